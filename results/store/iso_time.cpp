#include <tessera/store/iso_time.hpp>

#include <chrono>

namespace tessera {

namespace {

void put_digits(std::string& text, std::size_t at, std::size_t count, std::int64_t number) {
    for (std::size_t i = count; i > 0; --i, number /= 10)
        text[at + i - 1] = static_cast<char>('0' + number % 10);
}

} // namespace

std::string iso_time(std::int64_t wall_ns) {
    using namespace std::chrono;
    const auto time = floor<milliseconds>(sys_time<nanoseconds>(nanoseconds(wall_ns)));
    const auto day = floor<days>(time);
    const year_month_day date(day);
    if (date.year() < year(1) || date.year() > year(9999)) return std::string(iso_time_size, ' ');
    const auto in_day = (time - day).count();
    std::string text = "0000-00-00T00:00:00.000Z";
    put_digits(text, 0, 4, static_cast<int>(date.year()));
    put_digits(text, 5, 2, static_cast<unsigned>(date.month()));
    put_digits(text, 8, 2, static_cast<unsigned>(date.day()));
    put_digits(text, 11, 2, in_day / 3'600'000);
    put_digits(text, 14, 2, in_day / 60'000 % 60);
    put_digits(text, 17, 2, in_day / 1000 % 60);
    put_digits(text, 20, 3, in_day % 1000);
    return text;
}

} // namespace tessera
