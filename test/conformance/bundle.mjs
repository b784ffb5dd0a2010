// @ts-check
import * as esbuild from 'esbuild';

/**
 * Bundles the suite for a runtime. The cases are not in the folder of a project: what resolves no packages by itself is told
 * by `nodePaths` where `plimsoll` is.
 *
 * @param {esbuild.BuildOptions} options
 */
export async function bundle(options) {
  await esbuild.build({
    bundle: true,
    format: 'esm',
    target: 'es2022',
    // "sideEffects": false of package.json would drop `import './cases/x.ts'`, and no test at all would pass.
    ignoreAnnotations: true,
    tsconfigRaw: {},
    logLevel: 'warning',
    ...options,
  });
}
