import { assertEquals, assertThrows } from "@std/assert";
import { BadRequestError } from "../../../core/errors/errors.ts";
import type { JsonObject } from "../../../core/json/json.ts";
import { createRuledCall, parseApprovalRule } from "./approval_rules.ts";

Deno.test("bash(…): a call whose command is no text is not allowed, and may be one that is denied", async () => {
  const rule = parseApprovalRule("bash(git *)");
  for (const args of [{}, { command: ["git", "log"] }, { script: "git log" }]) {
    const call = await createRuledCall({ name: "bash", arguments: args as JsonObject });
    assertEquals([rule.covers(call), rule.concerns(call)], [false, "possible"]);
  }
});

/** Returns whether a rule covers a call, and whether it concerns it. */
async function decide(rule: string, name: string, args: JsonObject = {}) {
  const { covers, concerns } = parseApprovalRule(rule);
  const call = await createRuledCall({ name, arguments: args });
  return [covers(call), concerns(call)];
}

Deno.test("rules: the name of a server is a rule for all of its tools, and for no other", async () => {
  for (const rule of ["mcp__github", "mcp__github__", "MCP__GitHub", "mcp__github(*)"]) {
    assertEquals(await decide(rule, "mcp__github__push"), [true, "certain"], rule);
    for (const other of ["mcp__github_2__push", "mcp__git__hub", "mcp__githubs__push", "mcp__"]) {
      assertEquals(await decide(rule, other), [false, "none"], `${rule} ${other}`);
    }
  }
  assertEquals(await decide("mcp__my_server-1f__", "mcp__my_server-1f__a__b"), [true, "certain"]);
  assertEquals(await decide("mcp__github__push", "mcp__github__push__all"), [false, "none"]);
});

Deno.test("rules: the names that other agents give to tools deny all that they do there, and allow no more", async () => {
  const path = { path: "secrets/a" };
  const cases: [rule: string, name: string, args: JsonObject, expected: unknown[]][] = [
    ["Read(secrets/**)", "read_file", path, [true, "certain"]],
    ["Read(secrets/**)", "search_files", { path: "secrets" }, [false, "certain"]],
    ["Read(secrets/**)", "list_directory", { path: "secrets" }, [false, "certain"]],
    ["Read", "search_files", {}, [false, "certain"]],
    ["Read", "write_file", path, [false, "none"]],
    ["Edit(secrets/**)", "edit_file", path, [true, "certain"]],
    ["Edit(secrets/**)", "write_file", path, [false, "certain"]],
    ["Write(secrets/**)", "write_file", path, [true, "certain"]],
    ["MultiEdit", "edit_file", path, [true, "certain"]],
    ["Glob", "list_directory", {}, [true, "certain"]],
    ["Grep(src/**)", "search_files", { path: "src/a" }, [true, "certain"]],
    ["WebFetch(domain:a.test)", "fetch_url", { url: "https://a.test/" }, [true, "certain"]],
    ["WebFetch", "fetch_url", {}, [true, "certain"]],
    // The names are those with capital letters; a tool with such a name is meant too.
    ["read", "read_file", path, [false, "none"]],
    ["Read(secrets/**)", "read", path, [true, "certain"]],
    ["Bash(git log *)", "bash", { command: "git log" }, [true, "certain"]],
  ];
  for (const [rule, name, args, expected] of cases) {
    assertEquals(await decide(rule, name, args), expected, `${rule} ${name}`);
  }
});

Deno.test("rules: a host that could match nothing is refused", () => {
  for (
    const pattern of ["user@a.test", "a.test#b", "a.test/b?c=d", "//a.test", "ftp://a.test", "a b"]
  ) {
    const rule = `fetch_url(${pattern})`;
    assertThrows(() => parseApprovalRule(rule), BadRequestError, "is not a valid rule", pattern);
  }
});
