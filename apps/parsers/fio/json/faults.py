"""Explanations why a JSON document of fio can not be read: in which line, what stands there, what was expected."""

import re
from collections.abc import Callable

import msgspec

from apps.parsers.core.models import ParseError
from apps.parsers.core.source_text import decode_for_message
from apps.parsers.fio.json.lines import FioLines, LineCounter

NOT_NUMBERS = re.compile(rb"(:\s*)(-?(?:nan|inf(?:inity)?)\b)(?=\s*[,}\]\r\n])", re.IGNORECASE)
_WRONG_TYPE = re.compile(r"Expected `([^`]+)`, got `([^`]+)` - at `\$\.?([^`]*)`")
_OUT_OF_RANGE = re.compile(
    r"(?:Number out of range|Integer value out of range|Expected `int` [<>]= -?\d+) - at `\$\.?([^`]*)`"
)
_AT_BYTE = re.compile(r"(.{1,200}?) \(byte (\d{1,18})\)")
_STEPS = re.compile(r"\[(\d{1,9}|\.\.\.)\]|([^.\[\]]+)")
_VALUE = re.compile(rb'\s{0,80}:\s{0,80}("[^"\n]{0,60}"|[^\s,{}\[\]"]{1,60}|[\[{])')
_LISTS = ("jobs", "client_stats")
_LONGEST_PRINTED = 40


class UnfitError(ParseError):
    """Raised for a value that fio's report can not hold. `path` is where it stands, as `jobs[0].read.iops`."""

    def __init__(self, message: str, path: str, *, found: str = "", expected: str = "") -> None:
        self.path = path
        super().__init__(message, found=found, expected=expected)


class NoJsonError(ParseError):
    """Raised where the text is no JSON at some place. `is_cut_off`: it is JSON as far as it goes."""

    def __init__(self, message: str, *, line: int, found: str, expected: str, is_cut_off: bool) -> None:
        self.is_cut_off = is_cut_off
        super().__init__(message, line=line, found=found, expected=expected)


def make_unfit(error: msgspec.ValidationError) -> UnfitError:
    """Return the error for what the JSON reader refused."""
    if parts := _WRONG_TYPE.match(str(error)):
        return UnfitError(f"{parts[3]} of fio's report has the wrong type", parts[3], found=parts[2], expected=parts[1])
    if parts := _OUT_OF_RANGE.match(str(error)):
        message = f"{parts[1]} of fio's report is out of range"
        return UnfitError(message, parts[1], found="more than that", expected="a number that a computer holds")
    return UnfitError(f"fio's report holds a value that cannot be: {error}", "")


def place_error(error: ParseError, data: bytes, start: int, end: int) -> ParseError:
    """Return the error with the line and the characters of the value, where it can be found."""
    line = first = data.count(b"\n", 0, start) + 1
    printed_value = error.found
    if isinstance(error, UnfitError) and (position := _find_position(error.path, data, start, end)) is not None:
        line = data.count(b"\n", 0, position) + 1
        printed = _read_printed(data, position, end)
        printed_value = printed or printed_value
    message = f"in the document that begins in line {first}, {error.message}"
    return ParseError(message, line=line, found=printed_value, expected=error.expected)


def _find_position(path: str, data: bytes, start: int, end: int) -> int | None:
    """Return the offset of the last key of the path: each is searched behind the one before it, in its job's part."""
    lines, within, before, position = FioLines(LineCounter(data), start, end), (start, end), "", None
    for number, key in _STEPS.findall(path):
        if key:
            if (offset := lines.position(key, within)) is None:
                return None
            position, within, before = offset, (offset, within[1]), key
        elif number == "..." or before not in _LISTS:
            return position  # the path does not tell which bin
        else:
            jobs = lines.jobs()
            if int(number) < len(jobs):
                within = jobs[int(number)]
            elif int(number):
                return position
    return position


def _read_printed(data: bytes, position: int, end: int) -> str:
    """Return the value behind the key, or the bracket that it begins with."""
    match = _VALUE.match(data, data.find(b'"', position + 1, end) + 1, end)
    return decode_for_message(match[1])[:_LONGEST_PRINTED] if match else ""


def find_no_json(decode: Callable[[bytes], object], data: bytes, start: int, end: int) -> NoJsonError | None:
    """Return the error where the bytes stop being JSON; None where they are JSON. `decode` is the function that refused them."""
    # blanks keep every byte in its place
    text = NOT_NUMBERS.sub(lambda match: match[1] + b"0".rjust(len(match[2])), data[start:end])
    try:
        decode(text)
    except msgspec.ValidationError:
        return None
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        return _locate_error(error, text, data.count(b"\n", 0, start) + 1)
    return None


def _locate_error(error: Exception, text: bytes, first: int) -> NoJsonError:
    """Return the error for a text that begins in line `first`."""
    if isinstance(error, RecursionError):
        message = "the JSON that begins here is nested too deep"
        return NoJsonError(message, line=first, found="", expected="fio's report", is_cut_off=False)
    parts = _AT_BYTE.search(str(error))
    if parts is None:  # the reader wanted more
        return _make_cut_off(text, first)
    place = min(int(parts[2]), len(text))
    why = parts[1].removeprefix("JSON is malformed: ")
    line = first + text.count(b"\n", 0, place)
    printed = decode_for_message(text[place : place + _LONGEST_PRINTED]).split("\n")[0].strip()
    if not printed and not text[place:].strip():
        return _make_cut_off(text, first)
    message = f"the JSON that begins in line {first} is none any more: {why}"
    return NoJsonError(message, line=line, found=printed or "the end of the line", expected="JSON", is_cut_off=False)


def _make_cut_off(text: bytes, line: int) -> NoJsonError:
    last = " ".join(decode_for_message(text.rstrip()[-_LONGEST_PRINTED:]).split())
    message, expected = "the JSON that begins here is cut off", 'a whole JSON object with "fio version"'
    return NoJsonError(message, line=line, found=f"… {last}", expected=expected, is_cut_off=True)
