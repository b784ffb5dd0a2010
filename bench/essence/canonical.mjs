// @ts-check

/**
 * RFC 8785 text of a JSON value, the short way: independent of the library, to check it with, not to compete with it.
 * JavaScript's own text of numbers and strings is the canonical one, and its default sort is by UTF-16 units.
 *
 * @param {unknown} value
 * @returns {string}
 */
export function canonicalText(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalText).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const members = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalText(member)}`).join()}}`;
}
