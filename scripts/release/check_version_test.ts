import { assertEquals, assertThrows } from "@std/assert";
import { getReleaseNotes, type ReleaseTexts } from "./check_version.ts";

const config = '{ "version": "1.2.0" }';
const changelog =
  "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-01-05\n\n### Added\n\n- a\n\n## [1.1.0] - 2026-01-01\n\n- b\n";
const readme = "# Package\n\n## Status\n\nVersion 1.2.0.\n";

Deno.test("getReleaseNotes(): returns the entry of the version", () => {
  assertEquals(getReleaseNotes({ tag: "v1.2.0", config, changelog, readme }), "### Added\n\n- a\n");
});

Deno.test("getReleaseNotes(): rejects another tag, a missing entry and unreleased changes", () => {
  const check = (texts: Partial<ReleaseTexts>, message: string) =>
    assertThrows(
      () => getReleaseNotes({ tag: "v1.2.0", config, changelog, readme, ...texts }),
      Error,
      message,
    );
  check({ tag: "v1.3.0" }, "deno.json has the version 1.2.0");
  check({ changelog: "# Changelog\n" }, 'has no entry "## [1.2.0] - DATE"');
  check(
    { changelog: changelog.replace("[Unreleased]\n", "[Unreleased]\n\n- c\n") },
    "has unreleased changes",
  );
});

Deno.test("getReleaseNotes(): rejects a README with another version, or one that says that the package is not published", () => {
  for (
    const text of ["Version 1.1.0.", "Version 1.2.0, not published.", "It is not yet published."]
  ) {
    assertThrows(
      () => getReleaseNotes({ tag: "v1.2.0", config, changelog, readme: text }),
      Error,
      'README.md needs "Version 1.2.0"',
    );
  }
});
