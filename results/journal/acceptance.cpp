#include <tessera/journal/acceptance.hpp>
