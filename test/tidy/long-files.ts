/** Files of src/ and assembly/ that may be longer than `FILE_LINES_MAX`, each with the reason why it is one concept. */
export const LONG_FILES: Readonly<Record<string, string>> = {
  'src/types/errors.ts': 'one table of codes and the classes it lists: who looks for an error finds it here',
};
