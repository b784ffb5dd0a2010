/** What a status holds of one writer: the value that the classic tracker's scenarios are about. */
export interface StatusEntry {
  readonly host: string;
  readonly conditions: readonly Condition[];
}

export interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  /** Not compared (T3). */
  readonly transition: number;
}

/** T3's equality: conditions in any order, transition times and some reasons left out. */
export function entryEquality(ignoredReasons: readonly string[]): (a: StatusEntry, b: StatusEntry) => boolean {
  const essence = ({ host, conditions }: StatusEntry): string => {
    const kept = conditions
      .filter(({ reason }) => !ignoredReasons.includes(reason))
      .map(({ type, status, reason, message }) => JSON.stringify([type, status, reason, message]));
    return JSON.stringify([host, kept.sort()]);
  };
  return (a, b) => essence(a) === essence(b);
}
