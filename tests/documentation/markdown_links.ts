/**
 * Finds relative links in pages whose file or heading does not exist.
 *
 * @module
 */

import type { TextFile } from "./project_paths.ts";

/** Returns the dead links of a page. `pages` are all pages, for links to headings. */
export function findDeadLinks(
  page: TextFile,
  pages: readonly TextFile[],
  existing: readonly string[],
): string[] {
  const prose = page.text.replaceAll(/^```[\s\S]*?^```/gm, "").replaceAll(/`[^`\n]*`/g, "");
  const targets = Array.from(prose.matchAll(/\]\(([^)\s]+)\)/g), ([, target = ""]) => target);
  return targets
    .filter((target) => !/^[a-z]+:/.test(target) && !isValidTarget(target, page, pages, existing))
    .map((target) => `${page.path}: ${target}`);
}

function isValidTarget(
  target: string,
  { path }: TextFile,
  pages: readonly TextFile[],
  existing: readonly string[],
): boolean {
  const url = new URL(target, `file:///${path}`);
  const file = decodeURIComponent(url.pathname.slice(1)).replace(/\/$/, "");
  if (!existing.includes(file)) return false;
  if (!url.hash) return true;
  const text = pages.find((page) => page.path === file)?.text ?? "";
  return getAnchors(text).includes(decodeURIComponent(url.hash.slice(1)));
}

/** Returns the anchors that GitHub generates for the headings of a page. */
export function getAnchors(markdown: string): string[] {
  const counts = new Map<string, number>();
  const prose = markdown.replaceAll(/^```[\s\S]*?^```/gm, "");
  return Array.from(prose.matchAll(/^#+ +(.+?)\s*$/gm), ([, heading = ""]) => {
    const slug = heading.toLowerCase().replaceAll(/[^\p{L}\p{N}_ -]/gu, "").replaceAll(" ", "-");
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    return count === 0 ? slug : `${slug}-${count}`;
  });
}
