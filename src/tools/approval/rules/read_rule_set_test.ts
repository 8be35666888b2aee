import { assertEquals, assertRejects, assertThrows } from "@std/assert";
import { createTemporaryDirectory } from "../../../../tests/cli/temporary_directory.ts";
import { BadRequestError } from "../../../core/errors/errors.ts";
import { readRuleSet } from "./read_rule_set.ts";
import { parseRuleSet } from "./rule_set.ts";

Deno.test("readRuleSet(): reads the rules of a file with its path as their source", async () => {
  await using directory = await createTemporaryDirectory({
    "rules.json": '\ufeff{ "allow": ["bash(git log *)"], "deny": ["bash(rm *)"] }',
  });
  const path = `${directory.path}/rules.json`;
  assertEquals(await readRuleSet(path, { authority: "project" }), {
    source: path,
    authority: "project",
    allow: ["bash(git log *)"],
    ask: undefined,
    deny: ["bash(rm *)"],
  });
  assertEquals(await readRuleSet(`${directory.path}/none`, { authority: "user" }), undefined);
  assertEquals(await readRuleSet(`${path}/none`, { authority: "user" }), undefined);
});

Deno.test("readRuleSet(): refuses what is no file of rules, without waiting or reading all of it", async () => {
  await using directory = await createTemporaryDirectory({
    "list.json": "[]",
    "text.json": '{ "deny": ["bash(rm *)"',
    "other.json": '{ "denied": ["bash(rm *)"] }',
    "rule.json": '{ "deny": ["bash("] }',
    "large.json": `{ "deny": ["${"a".repeat(1024 * 1024)}"] }`,
    "twice.json": '{ "deny": ["bash(rm *)"], "deny" : [] }',
    "directory/a": "",
  });
  const { path } = directory;
  await Deno.writeFile(`${path}/bytes.json`, Uint8Array.of(0x22, 0xff, 0x22));
  await Deno.symlink("/dev/zero", `${path}/device.json`);
  await Deno.symlink("../rules.json", `${path}/outside.json`);
  const { success } = await new Deno.Command("mkfifo", { args: [`${path}/pipe.json`] }).output();
  assertEquals(success, true);
  for (
    const [name, problem] of [
      ["list.json", "write an object"],
      ["text.json", "is not valid JSON"],
      ["other.json", '"denied" is unknown'],
      ["rule.json", "is not a valid rule"],
      ["large.json", "is larger than 1048576 bytes"],
      ["twice.json", '"deny" is written twice'],
      ["bytes.json", "is not UTF-8 text"],
      ["device.json", "is a link to a file outside of its directory"],
      ["pipe.json", "is a named pipe, not a regular file"],
      ["directory", "is a directory, not a regular file"],
    ] as const
  ) {
    await assertRejects(
      () => readRuleSet(`${path}/${name}`, { authority: "user" }),
      BadRequestError,
      `${path}/${name}`,
    );
    await assertRejects(
      () => readRuleSet(`${path}/${name}`, { authority: "user" }),
      BadRequestError,
      problem,
    );
  }
  const untyped = {} as { authority: "user" };
  await assertRejects(() => readRuleSet(path, untyped), BadRequestError, "authority");
});

Deno.test("parseRuleSet(): the text of a rule is no list, whatever it contains", () => {
  const text = JSON.stringify({ deny: ['bash(echo "deny": x)', 'bash(echo "deny": y)'] });
  assertEquals(parseRuleSet(text, { source: "a" }).deny?.length, 2);
  const twice = '{ "allow": [], "ask": [], "allow": [] }';
  assertThrows(() => parseRuleSet(twice, { source: "a" }), BadRequestError, '"allow" is written');
});
