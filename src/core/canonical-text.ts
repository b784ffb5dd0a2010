/**
 * Arrays and objects that may be open at one point of a JSON text or value, wherever Plimsoll walks one: the bound of
 * the core's frame stack, and far below what overflows that of a runtime.
 */
export const DEPTH_MAX = 1000;

/** A string the way RFC 8785 writes it, or `undefined` when it has half of a surrogate pair, which has no UTF-8 form. */
export function canonicalString(text: string): string | undefined {
  if (PLAIN.test(text)) return `"${text}"`;
  // `JSON.stringify` escapes exactly what RFC 8785 asks for, as long as there is no lone surrogate.
  return text.isWellFormed() ? JSON.stringify(text) : undefined;
}

/** Text of characters that stand for themselves: from the space on, without quotes, backslashes and surrogates. */
const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;
