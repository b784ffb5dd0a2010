/**
 * Arrays and objects that may be open at one point of a JSON text or value, wherever Plimsoll walks one. The core's
 * readers, which call themselves for each, have the same bound (`assembly/json-mode.ts`), far below what overflows a stack.
 */
export const DEPTH_MAX = 1000;

/**
 * Members and elements one walk of a value may visit, so that one that shares parts cannot unfold without end. A JSON
 * text of as many is 20 MB at the very least; the pieces of text of a walk take about 100 bytes each until it ends.
 */
export const PARTS_MAX: number = 2 ** 22;

/** A string the way RFC 8785 writes it, or `undefined` when it has half of a surrogate pair, which has no UTF-8 form. */
export function canonicalString(text: string): string | undefined {
  if (PLAIN.test(text)) return `"${text}"`;
  // `JSON.stringify` escapes exactly what RFC 8785 asks for, as long as there is no lone surrogate.
  return text.isWellFormed() ? JSON.stringify(text) : undefined;
}

/** Text of characters that stand for themselves: from the space on, without quotes, backslashes and surrogates. */
const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;
