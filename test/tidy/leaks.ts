import type { ProjectFile, Violation } from './project.ts';

/**
 * What only means something on one machine: absolute paths of a work place, and the hosts of package registries (every
 * machine uses the registry it is set up for). Put together from parts, so that this file does not break its own rule.
 */
const FOLDERS = ['work', 'farm', 'home', 'root', 'Users', 'workspace'];
const MACHINE_PATH = new RegExp(`(?<![\\w.~*)\\]}/-])(?:file://)?/(?:${FOLDERS.join('|')})/[\\w.-]`);

const HOSTS: readonly (readonly string[])[] = [
  ['npmjs', 'org'],
  ['npmjs', 'com'],
  ['yarnpkg', 'com'],
  ['npmmirror', 'com'],
  ['jsr', 'io'],
  ['pypi', 'org'],
  ['pythonhosted', 'org'],
  ['crates', 'io'],
  ['golang', 'org'],
  ['maven', 'org'],
  ['maven', 'apache', 'org'],
  ['deb', 'debian', 'org'],
];
const REGISTRY_HOST = new RegExp(`\\b(?:${HOSTS.map((parts) => parts.join('\\.')).join('|')})\\b`, 'i');

export function checkLeaks(files: readonly ProjectFile[]): readonly Violation[] {
  return files.flatMap(({ path, text }) =>
    text.split('\n').flatMap((content, index) => {
      const machinePath = MACHINE_PATH.exec(content);
      const host = REGISTRY_HOST.exec(content);
      const found: Violation[] = [];
      if (machinePath !== null)
        found.push({ path, line: index + 1, message: `a path of one machine: ${machinePath[0]}` });
      if (host !== null) found.push({ path, line: index + 1, message: `the host of a package registry: ${host[0]}` });
      return found;
    }),
  );
}

/** A lockfile names versions and hashes; a `resolved` address would pin the registry it was made with. */
export function checkLockfiles(files: readonly ProjectFile[]): readonly Violation[] {
  return files
    .filter(({ path }) => path.endsWith('package-lock.json'))
    .flatMap(({ path, text }) =>
      text
        .split('\n')
        .flatMap((content, index) =>
          /^\s*"resolved":/.test(content) ? [{ path, line: index + 1, message: 'names the address of a package' }] : [],
        ),
    );
}
