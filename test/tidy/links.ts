import { resolve } from './layers.ts';
import type { ProjectFile, Violation } from './project.ts';

/** Links of a page to files of the repository; code blocks and addresses elsewhere are not looked at. */
export function checkLinks(
  pages: readonly ProjectFile[],
  exists: (path: string) => boolean,
  textOf: (path: string) => string | undefined,
): readonly Violation[] {
  return pages.flatMap(({ path, text }) =>
    proseLines(text).flatMap((content, index) =>
      targets(content).flatMap((target) => {
        const message = judge(path, text, target, exists, textOf);
        return message === undefined ? [] : [{ path, line: index + 1, message }];
      }),
    ),
  );
}

function judge(
  path: string,
  text: string,
  target: string,
  exists: (path: string) => boolean,
  textOf: (path: string) => string | undefined,
): string | undefined {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return undefined;
  const [file = '', anchor] = target.split('#');
  const targetPath = file === '' ? path : resolve(path, file).replace(/\/$/, '');
  if (!exists(targetPath)) return `links to "${target}", which does not exist`;
  const page = file === '' ? text : textOf(targetPath);
  if (anchor === undefined || page === undefined || anchors(page).has(anchor)) return undefined;
  return `links to "${target}", which has no such heading`;
}

/** Anchors as the usual renderers make them: lower case, spaces to `-`, everything but letters, digits, `-`, `_` gone. */
function anchors(page: string): ReadonlySet<string> {
  const headings = proseLines(page).flatMap((content) => /^#{1,6}\s+(.*?)\s*$/.exec(content)?.[1] ?? []);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replace(/\s/g, '-'),
    ),
  );
}

function targets(content: string): readonly string[] {
  const withoutCode = content.replace(/`[^`]*`/g, '');
  const inline = [...withoutCode.matchAll(/\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)/g)];
  const reference = [...withoutCode.matchAll(/^\s{0,3}\[[^\]]+\]:\s*(\S+)/g)];
  return [...inline, ...reference].flatMap((match) => match[1] ?? []);
}

/** The lines of a page with those of fenced code emptied, so that line numbers stay. */
function proseLines(text: string): readonly string[] {
  let fence: string | undefined;
  return text.split('\n').map((content) => {
    const marker = /^\s*(```+|~~~+)/.exec(content)?.[1];
    if (marker !== undefined && (fence === undefined || marker.startsWith(fence))) {
      fence = fence === undefined ? marker : undefined;
      return '';
    }
    return fence === undefined ? content : '';
  });
}
