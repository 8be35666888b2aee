import { assertEquals } from "@std/assert";
import { toSafeName } from "./safe_name.ts";

Deno.test("toSafeName(): keeps letters and digits, and nothing that a path or git could interpret", () => {
  const names: readonly (readonly [string, string])[] = [
    ["Fix the Bug!", "fix-the-bug"],
    ["../../etc/passwd", "etc-passwd"],
    ["--upload-pack=sh", "upload-pack-sh"],
    ["a..b@{1}.lock", "a-b-1-lock"],
    ["\u0000\n", "agent"],
    ["修正", "agent"],
    ["x".repeat(100), "x".repeat(40)],
    [`${"x".repeat(39)} y`, "x".repeat(39)],
  ];
  for (const [text, name] of names) assertEquals(toSafeName(text), name);
});
