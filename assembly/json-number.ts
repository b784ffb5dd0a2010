import { Fault, fail } from './json-fault';
import { Char, copyBytes, isDigit, setWritten } from './json-text';

/**
 * Numbers: validated, and written as ECMAScript writes the double they stand for, where that can be told from the
 * digits alone.
 *
 * ```text
 *   plain   integers up to 15 digits, and 16 digits up to 2^53-1     as they are; -0 is 0
 *           decimals up to 15 significant digits, 1e-6 and above     without trailing zeros
 *   hard    exponents, longer ones, smaller ones                     copied raw, `hardNumbers` is set
 * ```
 *
 * A decimal of at most 15 significant digits survives the way to a double and back, so its digits are also the
 * shortest ones that name the double; and no value of this size has an exponent in ECMAScript's text. A document with
 * a hard number is canonicalised by the caller, with the runtime's own number conversion.
 */

/** Whether a number was met that this file does not decide. The canonical text is then not one. */
export let hardNumbers: bool = false;

/** Whether all numbers are known to be written the canonical way. */
let areCanonical: bool = false;

export function resetNumbers(canonical: bool): void {
  hardNumbers = false;
  areCanonical = canonical;
}

/** Significant digits that every double keeps. */
const EXACT_DIGITS: usize = 15;
const SAFE_MAX: u64 = 9007199254740991;
/** "0.00000d" is written out, "0.000000d" is not. */
const LEADING_ZEROS_MAX: usize = 5;

/** Copies a number from its first byte, a digit or minus. `lenient`: the text will be dropped, so any size is legal. */
export function copyNumber(at: usize, to: usize, lenient: bool): usize {
  const start = at;
  if (load<u8>(at) == Char.Minus) at++;
  const whole = at;
  at = skipWhole(at);
  if (at == 0) return 0;
  const after = <u32>load<u8>(at);
  if (at - start <= EXACT_DIGITS && whole == start && after != <u32>Char.Dot && (after | 0x20) != 0x65) {
    // Nearly all numbers.
    v128.store(to, v128.load(start));
    setWritten(to + (at - start));
    return at;
  }
  const wholeEnd = at;
  let end = at;
  if (load<u8>(at) == Char.Dot) {
    at = skipDigits(at + 1);
    if (at == wholeEnd + 1) return fail(at, Fault.InvalidNumber);
    end = at;
    while (load<u8>(end - 1) == Char.Zero) end--;
    if (load<u8>(end - 1) == Char.Dot) end--;
  }
  if ((load<u8>(at) | 0x20) == 0x65) {
    at = skipExponent(at);
    if (at == 0) return 0;
    return copyHard(start, at, to, lenient);
  }
  if (!isPlain(whole, wholeEnd, end)) return copyHard(start, at, to, lenient);
  const isZero = end == wholeEnd && load<u8>(whole) == Char.Zero;
  const from = isZero ? whole : start;
  // At most 24 bytes: sign, "0.", five zeros, 15 digits.
  v128.store(to, v128.load(from));
  store<u64>(to, load<u64>(from, 16), 16);
  setWritten(to + (end - from));
  return at;
}

/** The byte after a number, from its first one, a digit or minus. */
export function skipNumber(at: usize): usize {
  at = skipWhole(load<u8>(at) == Char.Minus ? at + 1 : at);
  if (at == 0) return 0;
  if (load<u8>(at) == Char.Dot) {
    const fraction = at + 1;
    at = skipDigits(fraction);
    if (at == fraction) return fail(at, Fault.InvalidNumber);
  }
  return (load<u8>(at) | 0x20) == 0x65 ? skipExponent(at) : at;
}

/** The byte after the digits in front of point and exponent. */
function skipWhole(at: usize): usize {
  if (load<u8>(at) == Char.Zero) return isDigit(load<u8>(at, 1)) ? fail(at + 1, Fault.InvalidNumber) : at + 1;
  const end = skipDigits(at);
  return end == at ? fail(at, Fault.InvalidNumber) : end;
}

/** The byte after an exponent, from its `e` on. */
function skipExponent(at: usize): usize {
  const sign = load<u8>(at, 1);
  const digits = sign == Char.Plus || sign == Char.Minus ? at + 2 : at + 1;
  const end = skipDigits(digits);
  return end == digits ? fail(end, Fault.InvalidNumber) : end;
}

function skipDigits(at: usize): usize {
  while (isDigit(load<u8>(at))) at++;
  return at;
}

/** Whether the digits `[whole, end)`, without trailing zeros behind the point, are their double's own text. */
function isPlain(whole: usize, wholeEnd: usize, end: usize): bool {
  if (end == wholeEnd) {
    const digits = wholeEnd - whole;
    return digits <= EXACT_DIGITS || (digits == EXACT_DIGITS + 1 && isSafe(whole, wholeEnd));
  }
  if (load<u8>(whole) != Char.Zero) return end - whole - 1 <= EXACT_DIGITS;
  let first = wholeEnd + 1;
  while (load<u8>(first) == Char.Zero) first++;
  return first - wholeEnd - 1 <= LEADING_ZEROS_MAX && end - first <= EXACT_DIGITS;
}

function isSafe(at: usize, end: usize): bool {
  let value: u64 = 0;
  for (; at < end; at++) value = value * 10 + <u64>(load<u8>(at) - Char.Zero);
  return value <= SAFE_MAX;
}

function copyHard(start: usize, end: usize, to: usize, lenient: bool): usize {
  if (!lenient) {
    if (isInfinite(start, end)) return fail(start, Fault.NumberRange);
    if (!areCanonical) hardNumbers = true;
  }
  copyBytes(to, start, end - start);
  setWritten(to + (end - start));
  return end;
}

/** The decimal exponent of the largest double, and of {@link INFINITY_FROM}. */
const EXPONENT_MAX: i64 = 308;
/** A bound for exponents that cannot overflow when the length of a text is added. */
const EXPONENT_CAP: i64 = 1 << 40;

/** The digits of 2^1024 - 2^970, half-way between the largest double and 2^1024: from here on, rounding gives Infinity. */
const INFINITY_FROM: usize = memory.data(309);
const INFINITY_DIGITS: usize = 309;

/**
 * Whether a valid number rounds to an infinite double. Exact: the exponent of its first digit decides, and only at
 * 308 the digits are compared.
 */
function isInfinite(start: usize, end: usize): bool {
  let mantissaEnd = start;
  while (mantissaEnd < end && (load<u8>(mantissaEnd) | 0x20) != 0x65) mantissaEnd++;
  let dot = start;
  while (dot < mantissaEnd && load<u8>(dot) != Char.Dot) dot++;
  let first = start;
  while (first < mantissaEnd && <u32>load<u8>(first) - 0x31 > 8) first++;
  if (first == mantissaEnd) return false;
  const position = first < dot ? <i64>(dot - first) - 1 : <i64>dot - <i64>first;
  const exponent = position + readExponent(mantissaEnd, end);
  if (exponent != EXPONENT_MAX) return exponent > EXPONENT_MAX;
  computeInfinity();
  let at = first;
  for (let index: usize = 0; index < INFINITY_DIGITS; index++, at++) {
    if (at == dot) at++;
    const digit = at < mantissaEnd ? <u32>load<u8>(at) - <u32>Char.Zero : 0;
    const limit = <u32>load<u8>(INFINITY_FROM + index);
    if (digit != limit) return digit > limit;
  }
  return true;
}

/** Writes `INFINITY_FROM`, (2^54 - 1) * 2^970, by doubling 1; once. */
function computeInfinity(): void {
  const last = INFINITY_FROM + INFINITY_DIGITS - 1;
  if (load<u8>(last) != 0) return;
  store<u8>(last, 1);
  for (let power = 1; power <= 1024; power++) {
    let carry: u32 = 0;
    for (let at = last; at >= INFINITY_FROM; at--) {
      const double = ((<u32>load<u8>(at)) << 1) + carry;
      carry = <u32>(double > 9);
      store<u8>(at, <u8>(double - carry * 10));
    }
    // A power of two does not end in zero.
    if (power == 54) store<u8>(last, load<u8>(last) - 1);
  }
}

/** The value of `e+12` at `[at, end)`; 0 when there is none. */
function readExponent(at: usize, end: usize): i64 {
  if (at == end) return 0;
  at++;
  const sign = load<u8>(at);
  if (sign == Char.Minus || sign == Char.Plus) at++;
  let value: i64 = 0;
  for (; at < end; at++) {
    if (value < EXPONENT_CAP) value = value * 10 + <i64>(load<u8>(at) - Char.Zero);
  }
  return sign == Char.Minus ? -value : value;
}
