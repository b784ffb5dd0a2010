import { checkMembers } from '../store/checks.ts';

/**
 * Throws TypeError for options that are no object, and for a name that is not among them, as `openStore` does: a misspelt
 * option that is ignored makes a test that tests something else.
 */
export function checkKitOptions<T extends object>(
  options: T,
  names: readonly (keyof T & string)[],
  action: string,
): void {
  checkMembers(options, new Set<string>(names), action, 'the options are not an object', 'option');
}
