import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import fc from "fast-check";
import { createToolName } from "./tool_names.ts";

Deno.test("createToolName(): keeps names that providers accept", () => {
  assertEquals(createToolName("github", "create_issue"), "mcp__github__create_issue");
  assertEquals(createToolName("my-server", "get-env"), "mcp__my-server__get-env");
});

Deno.test("createToolName(): replaces other characters and appends a hash of the original name", () => {
  assertMatch(createToolName("fs", "files/read"), /^mcp__fs__files_read_[0-9a-f]{8}$/);
  assertNotEquals(createToolName("fs", "files/read"), createToolName("fs", "files.read"));
  assertMatch(createToolName("my server", "read"), /^mcp__my_server-[0-9a-f]{8}__read$/);
});

Deno.test("createToolName(): cuts long names to 64 characters", () => {
  const name = createToolName("s".repeat(300), "t".repeat(300));
  assertEquals(name.length, 64);
  assertNotEquals(name, createToolName("s".repeat(300), "t".repeat(301)));
  assertNotEquals(name, createToolName("s".repeat(301), "t".repeat(300)));
});

Deno.test("createToolName(): the names of two servers never have the same prefix", () => {
  const servers = ["a", "a_", "a__b", "a_b", "_", "__", "", "a b", "a-b"];
  const prefixes = servers.map((server) => createToolName(server, "b__c").replace(/__b__c$/, ""));
  assertEquals(new Set(prefixes).size, servers.length);
});

/** Names as servers may have them: mostly of few characters, so that they often collide. */
const anyName = fc.oneof(
  fc.string({ unit: fc.constantFrom("a", "_", "-", "/", ".", "é", "工"), maxLength: 80 }),
  fc.string({ unit: "binary", maxLength: 300 }),
);

Deno.test("createToolName(): random names are accepted by providers and differ if the originals do", () => {
  fc.assert(
    fc.property(fc.tuple(anyName, anyName), fc.tuple(anyName, anyName), (first, second) => {
      const names = [first, second].map(([server, tool]) => createToolName(server, tool));
      for (const name of names) assert(/^[a-zA-Z0-9_-]{1,64}$/.test(name), name);
      const areEqual = first[0] === second[0] && first[1] === second[1];
      assertEquals(names[0] === names[1], areEqual);
    }),
    { numRuns: Deno.env.get("SWINK_PROVE") === "1" ? 200_000 : 2_000 },
  );
});
