/**
 * Refuses text that neither JSON nor UTF-8 can hold, with a TypeError: it is to be written down. `what` names it: `the id`.
 */
export function checkWellFormed(action: string, what: string, text: string): void {
  if (!text.isWellFormed()) {
    throw new TypeError(`Cannot ${action}: ${what} has a lone surrogate, which no record can have`);
  }
}
