/**
 * `swink rules`.
 *
 * @module
 */

import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { parse } from "smol-toml";
import { main } from "../../cli/main.ts";
import { createFakeHost } from "./fake_host.ts";
import { createTemporaryDirectory, type TemporaryDirectory } from "./temporary_directory.ts";

const FILE = ".config/swink/config.toml";

/** Runs `swink rules` with a home directory. */
async function run(home: TemporaryDirectory, ...args: string[]) {
  const host = createFakeHost({ env: { HOME: home.path, NO_COLOR: "1" } });
  const code = await main(["rules", ...args], host);
  const hide = (text: string) => text.replaceAll(home.path, "HOME");
  return { code, output: hide(host.output), messages: hide(host.messages) };
}

Deno.test("swink rules add, list: keep the rules in the configuration of the user, each once", async () => {
  await using home = await createTemporaryDirectory({ [FILE]: "# mine\nplain = true\n" });
  assertEquals((await run(home, "list")).messages, "No rule: add one with swink rules add\n");
  await run(home, "add", "allow", "bash(deno test *)");
  await run(home, "add", "deny", "Bash(git push *)");
  await run(home, "add", "allow", "write_file");
  assertEquals(
    (await run(home, "add", "allow", "write_file")).messages,
    "The rule allow write_file already exists\n",
  );
  assertEquals(parse(home.read(FILE)), {
    plain: true,
    allowed_tools: ["bash(deno test *)", "write_file"],
    disallowed_tools: ["Bash(git push *)"],
  });
  assertStringIncludes(home.read(FILE), "# mine\n");
  assertEquals(
    (await run(home, "list")).output,
    [
      `deny   Bash(git push *)   HOME/${FILE}`,
      `allow  bash(deno test *)  HOME/${FILE}`,
      `allow  write_file         HOME/${FILE}`,
      "",
    ].join("\n"),
  );
});

Deno.test("swink rules remove: removes a rule from the file, and a list without rules", async () => {
  await using home = await createTemporaryDirectory({
    [FILE]: "plain = true\nallowed_tools = ['Bash(ls *), no_tool', \"write_file\"] # mine\n",
  });
  const remove = (...args: string[]) => run(home, "remove", ...args);
  assertEquals((await remove("allow", "no_tool")).messages, "The rule allow no_tool is removed\n");
  assertEquals(parse(home.read(FILE)).allowed_tools, ["Bash(ls *)", "write_file"]);
  assertEquals((await remove("deny", "write_file")).code, 2);
  assertEquals((await remove("allow", "Bash(ls *), write_file")).code, 2);
  assertEquals(parse(home.read(FILE)).allowed_tools, ["Bash(ls *)", "write_file"]);
  await remove("allow", "write_file");
  await remove("allow", "Bash(ls *)");
  assertEquals(parse(home.read(FILE)), { plain: true });
});

Deno.test("swink rules remove: removes a rule that a terminal has broken into rows, or the one with exactly these blanks", async () => {
  await using home = await createTemporaryDirectory({
    [FILE]: "allowed_tools = ['bash(ls  one)', 'bash(ls one)', 'bash(ls two three)']\n",
  });
  const { messages } = await run(home, "remove", "allow", "bash(ls\n  two\n  three)");
  assertEquals(messages, "The rule allow bash(ls two three) is removed\n");
  await run(home, "remove", "allow", "bash(ls one)");
  assertEquals(parse(home.read(FILE)), { allowed_tools: ["bash(ls  one)"] });
});

Deno.test("swink rules list, remove: list and remove a rule whose parentheses do not match, and others next to it", async () => {
  await using home = await createTemporaryDirectory({
    [FILE]: 'disallowed_tools = ["bash(rm *", "write_file", "edit_file"]\n',
  });
  assertMatch(
    (await run(home, "list")).output,
    /^deny +bash\(rm \* .*\ndeny +write_file .*\ndeny +edit_file .*\n$/,
  );
  assertEquals((await run(home, "remove", "deny", "write_file")).code, 0);
  assertEquals(parse(home.read(FILE)).disallowed_tools, ["bash(rm *", "edit_file"]);
  assertEquals((await run(home, "remove", "deny", "bash(rm *")).code, 0);
  assertEquals(parse(home.read(FILE)).disallowed_tools, ["edit_file"]);
});

Deno.test("swink rules list: names the source of each rule when several sources forbid tools", async () => {
  await using home = await createTemporaryDirectory({
    [FILE]: 'disallowed_tools = ["write_file"]\n',
  });
  const host = createFakeHost({
    env: { HOME: home.path, NO_COLOR: "1", SWINK_DISALLOWED_TOOLS: "edit_file" },
  });
  await main(["rules", "list"], host);
  assertEquals(
    host.output.replaceAll(home.path, "HOME"),
    `deny  write_file  HOME/${FILE}\ndeny  edit_file   SWINK_DISALLOWED_TOOLS\n`,
  );
});

Deno.test("swink rules add: keeps all rules of programs that add one at the same time", async () => {
  await using home = await createTemporaryDirectory();
  const rules = Array.from({ length: 20 }, (_, index) => `bash(rm ${index})`);
  const ends = await Promise.all(rules.map((rule) => run(home, "add", "deny", rule)));
  assertEquals(ends.map(({ code }) => code), rules.map(() => 0));
  const { disallowed_tools: added } = parse(home.read(FILE));
  assertEquals((added as string[]).toSorted(), rules.toSorted());
});

Deno.test("swink rules add, remove: an invalid list stays as it is, since its rules would be lost", async () => {
  const lists = ['["bash(git push *)", 5]', "5"];
  for (const list of lists) {
    const content = `disallowed_tools = ${list}\n`;
    await using home = await createTemporaryDirectory({ [FILE]: content });
    for (const action of ["add", "remove"]) {
      const { code, messages } = await run(home, action, "deny", "write_file");
      assertEquals([code, home.read(FILE)], [3, content]);
      assertStringIncludes(messages, `HOME/${FILE}:1: disallowed_tools must be a list of strings`);
    }
    assertEquals((await run(home, "add", "allow", "write_file")).code, 0);
  }
});

Deno.test("swink rules add: a link to a file that does not exist stays, and is reported", async () => {
  await using home = await createTemporaryDirectory({ ".config/swink/x": "" });
  const file = `${home.path}/${FILE}`;
  await Deno.symlink("../../none/config.toml", file);
  const { code, messages } = await run(home, "add", "allow", "write_file");
  assertEquals([code, (await Deno.lstat(file)).isSymlink], [3, true]);
  assertStringIncludes(
    messages.replaceAll(/\s+/g, " "),
    `HOME/${FILE} cannot be written: it is a link to a file that does not exist`,
  );
});

Deno.test("swink rules add: rejects invalid rules", async () => {
  await using home = await createTemporaryDirectory();
  for (const rule of ["bash(git", "a b", "", "no_tool", "bash (git *)"]) {
    assertEquals((await run(home, "add", "allow", rule)).code, 2, rule);
  }
  assertEquals((await run(home, "add", "forbid", "bash")).code, 2);
  assertEquals((await run(home, "list")).output, "");
});

Deno.test("swink rules why: explains decisions with their rules", async () => {
  await using home = await createTemporaryDirectory({
    [FILE]: 'allowed_tools = ["bash(deno test *)"]\ndisallowed_tools = ["bash(git push *)"]\n',
  });
  const explain = async (...args: string[]) => (await run(home, "why", ...args)).output;
  const denied = await explain("bash", "git push origin main");
  assertMatch(denied, /^decision {2}refuses\nrisk {6}network\n/);
  assertStringIncludes(denied, "bash(git push *)");
  const allowed = await explain("Bash", "deno test src");
  assertMatch(allowed, /^decision {2}runs without asking\n/);
  assertMatch(
    await explain("bash", "rm -rf x"),
    /^decision {2}asks, or refuses where no user can be asked\n/,
  );
  assertMatch(
    await explain("bash", "git status"),
    /^decision {2}runs without asking\nrisk {6}read\n/,
  );
  assertMatch(
    await explain("read_file", "src/a.ts"),
    /^decision {2}runs without asking\nrisk {6}read\n/,
  );
  assertMatch(await explain("write_file", '{"path":"a","content":"b"}'), /^decision {2}asks/);
  assertEquals((await run(home, "why", "none", "x")).code, 2);
  assertEquals((await run(home, "why", "bash", "{")).code, 2);
});

Deno.test("swink rules why: says which files the tools refuse, and explains the tools of tasks and skills", async () => {
  await using home = await createTemporaryDirectory({ ".agents/skills/a/SKILL.md": "" });
  const explain = async (tool: string, call: string) => {
    const { code, output } = await run(home, "why", tool, call);
    assertEquals(code, 0);
    return output;
  };
  for (const [tool, path] of [["Read", ".env"], ["LS", "/etc"], ["search_files", "/"]] as const) {
    const call = tool === "search_files" ? `{"pattern":"x","path":"${path}"}` : path;
    assertMatch(
      await explain(tool, call),
      /^decision {2}refuses\nrisk {6}read\nreason {4}".+" is (protected|outside)/,
    );
  }
  assertMatch(await explain("Write", ".git/config"), /^decision {2}refuses\nrisk {6}write\n/);
  const allowed = /^decision {2}runs without asking\nrisk {6}read\n$/;
  assertMatch(await explain("Read", `${home.path}/.agents/skills/a/SKILL.md`), allowed);
  assertMatch(await explain("Task", "Review it"), allowed);
  assertMatch(await explain("skill", "a"), allowed);
});

Deno.test("swink rules why: explains calls of the tools of MCP servers, which it does not start", async () => {
  const explain = async (config: string, call: string) => {
    await using home = await createTemporaryDirectory({ [FILE]: config });
    return await run(home, "why", "mcp__github__push", call);
  };
  const asked = await explain("", "{}");
  assertMatch(asked.output, /^decision {2}asks, or refuses .*\nrisk {6}network\n/);
  const allowed = await explain('allowed_tools = ["mcp__github"]\n', '{"branch":"main"}');
  assertMatch(allowed.output, /^decision {2}runs without asking\n[^]*\nrule {6}mcp__github\n/);
  const denied = await explain('disallowed_tools = ["mcp__github__*"]\n', "{}");
  assertMatch(
    denied.output,
    /^decision {2}refuses\nreason {4}disallowed_tools removes the tool mcp__github__push\n/,
  );
  const planned = await explain('permission_mode = "plan"\n', "{}");
  assertMatch(planned.output, /^decision {2}refuses\n/);
  assertEquals((await explain("", "main")).code, 2);
});

Deno.test("swink rules why: explains the decisions of a run with the mode and the tools of the configuration", async () => {
  const explain = async (config: string, tool: string, call = "a.txt") => {
    await using home = await createTemporaryDirectory({ [FILE]: config });
    const { code, output } = await run(home, "why", tool, call);
    assertEquals(code, 0);
    return output.split("\n").filter((line) => /^(decision|mode) /.test(line)).join("; ");
  };
  const asks = "decision  asks, or refuses where no user can be asked";
  const bypass = 'permission_mode = "bypass"\n';
  assertEquals(
    await explain(bypass, "bash", "rm -rf x"),
    "decision  runs without asking; mode      bypass",
  );
  const forbidden = `${bypass}disallowed_tools = ["bash(rm *)"]\n`;
  assertEquals(
    await explain(forbidden, "bash", "rm -rf x"),
    "decision  refuses; mode      bypass",
  );
  const edits = 'permission_mode = "acceptEdits"\n';
  assertEquals(
    await explain(edits, "Write"),
    "decision  runs without asking; mode      acceptEdits",
  );
  assertEquals(await explain(edits, "bash", "rm -rf x"), `${asks}; mode      acceptEdits`);
  const plan = 'permission_mode = "plan"\n';
  assertEquals(await explain(plan, "write_file"), "decision  refuses");
  assertEquals(await explain(`${plan}sandbox = "off"\n`, "bash", "ls"), "decision  refuses");
  assertEquals(await explain('tools = ["read_file"]\n', "bash", "ls"), "decision  refuses");
  assertEquals(await explain('disallowed_tools = ["bash"]\n', "bash", "ls"), "decision  refuses");
});

Deno.test("swink rules why: reports an invalid value of the configuration with its source", async () => {
  await using home = await createTemporaryDirectory({ [FILE]: 'timeout = "10"\n' });
  assertEquals(await run(home, "why", "bash", "ls"), {
    code: 3,
    output: "",
    messages:
      `swink: HOME/${FILE}: Invalid value "10" for timeout: must be a duration such as 90s, 10m or 1h\n`,
  });
});
