/**
 * A file name on one line, as sha256sum writes it: `\\` for a backslash, `\n` and `\r` for line breaks. No two names
 * come out the same.
 */
export function escapeName(name: string): string {
  return name.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\r', '\\r');
}

/** Text from outside on one line, and without power over a terminal: line breaks and control characters are escaped. */
export function escapeControls(text: string): string {
  return text.replace(/\p{Cc}|\p{Zl}|\p{Zp}/gu, (character) => {
    if (character === '\n') return '\\n';
    if (character === '\r') return '\\r';
    if (character === '\t') return '\\t';
    const hex = character.charCodeAt(0).toString(16);
    return hex.length > 2 ? `\\u${hex}` : `\\x${hex.padStart(2, '0')}`;
  });
}
