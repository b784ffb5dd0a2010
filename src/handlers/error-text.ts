/** Longest text kept of an error, in UTF-16 units. */
export const ERROR_TEXT_MAX = 300;

/** What an error says, bounded. It can be anything, also something that throws when it is looked at. */
export function errorText(error: unknown): string {
  let text: string;
  try {
    text = error instanceof Error && error.message !== '' ? `${error.name}: ${error.message}` : String(error);
  } catch {
    text = 'an error that cannot be shown';
  }
  return text.length > ERROR_TEXT_MAX ? `${text.slice(0, ERROR_TEXT_MAX - 1)}…` : text;
}
