/** Arrays and objects that may be open at one point of a JSON text or value: the bound of the core's frame stack. */
export const DEPTH_MAX = 1000;

/** Whether every surrogate is part of a pair. What is not has no UTF-8 form, and RFC 8785 refuses it. */
export function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** A string the way RFC 8785 writes it, or `undefined` when it has half of a surrogate pair. */
export function canonicalString(text: string): string | undefined {
  if (PLAIN.test(text)) return `"${text}"`;
  // `JSON.stringify` escapes exactly what RFC 8785 asks for, as long as there is no lone surrogate.
  return isWellFormed(text) ? JSON.stringify(text) : undefined;
}

/** Text of characters that stand for themselves: from the space on, without quotes, backslashes and surrogates. */
const PLAIN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/;
