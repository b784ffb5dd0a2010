/**
 * Why a JSON text was refused and where. Readers answer 0 for "refused" (a pointer into the text otherwise) and leave
 * the facts here. `src/core/essence-core.ts` has the sentence for each; a test compares the two lists.
 */
export const enum Fault {
  None = 0,
  /** No memory: the one fault that is not the text's. */
  Full = 1,
  UnexpectedEnd = 2,
  ExpectedValue = 3,
  ExpectedName = 4,
  ExpectedColon = 5,
  ExpectedCommaOrBrace = 6,
  ExpectedCommaOrBracket = 7,
  TrailingBytes = 8,
  ByteOrderMark = 9,
  Depth = 10,
  InvalidNumber = 11,
  NumberRange = 12,
  ControlCharacter = 13,
  InvalidEscape = 14,
  LoneSurrogate = 15,
  InvalidUtf8 = 16,
  DuplicateName = 17,
}

export let fault: Fault = Fault.None;
/** Pointer to the byte at fault. */
export let faultAt: usize = 0;

/** Notes the fault and answers 0, so that a reader can `return fail(...)`. */
export function fail(at: usize, reason: Fault): usize {
  fault = reason;
  faultAt = at;
  return 0;
}

export function clearFault(): void {
  fault = Fault.None;
  faultAt = 0;
}
