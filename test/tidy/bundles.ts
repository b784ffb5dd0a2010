import { imports } from './syntax.ts';

/** First characters of any WebAssembly module in base64: `\0asm` and the version. */
const INLINED = 'AGFzbQEAAA';
const STATIC_IMPORT = './core.wasm?module';

/** Files of a built entry: itself and the chunks it reaches. */
export function reachable(entry: string, texts: ReadonlyMap<string, string>): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (name: string): void => {
    const text = texts.get(name);
    if (text === undefined || found.has(name)) return;
    found.add(name);
    for (const { specifier } of imports({ path: name, text })) visit(specifier.replace(/^\.\//, ''));
  };
  visit(entry);
  return found;
}

/**
 * What is wrong with the two bundles of tsup.config.ts: the inline one has to carry the bytes and the static one has to
 * import the module, and neither the other way; and they share no file.
 */
export function checkBundles(
  inline: readonly string[],
  hosted: readonly string[],
  texts: ReadonlyMap<string, string>,
): readonly string[] {
  const contains = (names: Iterable<string>, part: string): readonly string[] =>
    [...names].filter((name) => texts.get(name)?.includes(part));
  const inlineFiles = new Set(inline.flatMap((entry) => [...reachable(entry, texts)]));
  const hostedFiles = new Set(hosted.flatMap((entry) => [...reachable(entry, texts)]));
  const found = [
    ...[...inlineFiles].filter((name) => hostedFiles.has(name)).map((name) => `${name} is in both bundles`),
    ...contains(hostedFiles, INLINED).map((name) => `${name} of the static bundle carries the bytes`),
    ...contains(inlineFiles, STATIC_IMPORT).map((name) => `${name} of the inline bundle imports the module`),
  ];
  if (contains(inlineFiles, INLINED).length === 0) found.push('the inline bundle does not carry the bytes');
  if (contains(hostedFiles, STATIC_IMPORT).length === 0) found.push('the static bundle does not import the module');
  return found;
}
