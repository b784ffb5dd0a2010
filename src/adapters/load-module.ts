export type LoadedModule = { readonly module: unknown } | { readonly error: unknown };

/** A module that need not be there, by a name that no bundler follows. */
export async function loadModule(name: string): Promise<LoadedModule> {
  try {
    return { module: await import(name) };
  } catch (error) {
    return { error };
  }
}
