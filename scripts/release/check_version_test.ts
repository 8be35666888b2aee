import { assertEquals, assertThrows } from "@std/assert";
import { getReleaseNotes } from "./check_version.ts";

const config = '{ "version": "1.2.0" }';
const changelog =
  "# Changelog\n\n## [Unreleased]\n\n## [1.2.0] - 2026-01-05\n\n### Added\n\n- a\n\n## [1.1.0] - 2026-01-01\n\n- b\n";

Deno.test("getReleaseNotes(): returns the entry of the version", () => {
  assertEquals(getReleaseNotes({ tag: "v1.2.0", config, changelog }), "### Added\n\n- a\n");
});

Deno.test("getReleaseNotes(): rejects another tag, a missing entry and unreleased changes", () => {
  const check = (texts: { tag?: string; changelog?: string }, message: string) =>
    assertThrows(
      () => getReleaseNotes({ tag: "v1.2.0", config, changelog, ...texts }),
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
