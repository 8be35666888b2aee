/**
 * Checks that a tag, `deno.json`, the changelog and the README have the same version, and prints the entry of the changelog.
 *
 * Usage: `deno run --allow-read scripts/release/check_version.ts v1.2.3`
 *
 * @module
 */

/** The texts that state the version. */
export interface ReleaseTexts {
  /** The tag, such as `v1.2.3`. */
  readonly tag: string;
  /** The text of `deno.json`. */
  readonly config: string;
  /** The text of the changelog. */
  readonly changelog: string;
  /** The text of the README. */
  readonly readme: string;
}

/**
 * Returns the entry of the changelog, without its heading.
 *
 * @throws {Error} When the versions differ, the changelog has no entry or still has unreleased changes, or the README states
 * that the package is not published.
 */
export function getReleaseNotes({ tag, config, changelog, readme }: ReleaseTexts): string {
  const { version } = JSON.parse(config);
  if (tag !== `v${version}`) {
    throw new Error(`The tag is ${tag}, but deno.json has the version ${version}`);
  }
  if (!readme.includes(`Version ${version}`) || /\bnot (?:yet )?published\b/.test(readme)) {
    throw new Error(
      `README.md needs "Version ${version}", and must not say that the package is not published`,
    );
  }
  const sections = changelog.split(/^(?=## \[)/m);
  const unreleased = sections.find((section) => section.startsWith("## [Unreleased]")) ?? "";
  if (unreleased.replace(/^.*$/m, "").trim() !== "") {
    throw new Error(
      `CHANGELOG.md has unreleased changes: move them under "## [${version}] - DATE"`,
    );
  }
  const entry = sections.find((section) => section.startsWith(`## [${version}] - `));
  if (entry === undefined) throw new Error(`CHANGELOG.md has no entry "## [${version}] - DATE"`);
  return `${entry.replace(/^.*$/m, "").trim()}\n`;
}

if (import.meta.main) {
  const root = new URL("../../", import.meta.url);
  try {
    console.log(getReleaseNotes({
      tag: Deno.args[0] ?? "",
      config: await Deno.readTextFile(new URL("deno.json", root)),
      changelog: await Deno.readTextFile(new URL("CHANGELOG.md", root)),
      readme: await Deno.readTextFile(new URL("README.md", root)),
    }));
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    Deno.exit(1);
  }
}
