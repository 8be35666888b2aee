import { assertEquals } from "@std/assert";
import { codingTools } from "../../coding_tools.ts";
import { createSandbox } from "../../sandbox/local_sandbox.ts";
import { approvalGate } from "../approval_gate.ts";

async function createDirectories(): Promise<string> {
  const root = await Deno.realPath(await Deno.makeTempDir());
  await Deno.mkdir(`${root}/a [real]/secret`, { recursive: true });
  await Deno.writeTextFile(`${root}/a [real]/secret/key`, "key");
  await Deno.writeTextFile(`${root}/a [real]/other`, "other");
  await Deno.symlink(`${root}/a [real]`, `${root}/link`);
  await Deno.symlink(`${root}/a [real]/other`, `${root}/file`);
  return root;
}

Deno.test("rules: a relative path that leads through a link is also that of the files behind it", async () => {
  const root = await createDirectories();
  try {
    await using sandbox = createSandbox({ cwd: root });
    const tools = codingTools({ sandbox });
    const decide = async (rule: string, name: string, args: Record<string, string>) => {
      const tool = tools.find((candidate) => candidate.name === name);
      if (!tool) throw new Error(name);
      const gate = approvalGate({ sandbox, deny: [rule], mode: "bypassed" });
      const { decision } = await gate.explain({ name, arguments: args, tool });
      return "rule" in decision ? decision.rule : undefined;
    };
    const key = "a [real]/secret/key";
    for (const rule of ["Read(link/secret/**)", "Read(./link/secret)", "Read(link)"]) {
      assertEquals(await decide(rule, "read_file", { path: key }), rule);
      assertEquals(await decide(rule, "search_files", { pattern: "k" }), rule);
      assertEquals(await decide(rule, "bash", { command: `cat '${key}'` }), rule);
    }
    const rule = "Read(link/secret/**)";
    assertEquals(await decide(rule, "read_file", { path: "a [real]/other" }), undefined);
    assertEquals(await decide("Edit(link/**)", "write_file", { path: key }), "Edit(link/**)");
    for (const other of ["Edit(link/none)", "Edit(*/secret)", "bash(link/x)", "Edit(other/**)"]) {
      assertEquals(await decide(other, "write_file", { path: "file" }), undefined, other);
    }
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});

Deno.test("rules: an absolute path that leads through a link is also that of the files behind it", async () => {
  const root = await createDirectories();
  try {
    const decide = async (rule: string, name: string, args: Record<string, string>) => {
      await using sandbox = createSandbox({ cwd: `${root}/link` });
      const tool = codingTools({ sandbox }).find((candidate) => candidate.name === name);
      if (!tool) throw new Error(name);
      const gate = approvalGate({ sandbox, deny: [rule] });
      const { decision } = await gate.explain({ name, arguments: args, tool });
      return "rule" in decision ? [decision.type, decision.rule] : [decision.type];
    };
    const rule = `Read(${root}/link/secret/**)`;
    const denied = ["denied", rule];
    assertEquals(await decide(rule, "read_file", { path: "secret/key" }), denied);
    assertEquals(await decide(rule, "read_file", { path: `${root}/link/secret/key` }), denied);
    assertEquals(await decide(rule, "list_directory", { path: "secret" }), denied);
    assertEquals(await decide(rule, "search_files", { pattern: "k", path: "." }), denied);
    assertEquals(await decide(rule, "bash", { command: "cat secret/key" }), denied);
    assertEquals(
      await decide(rule, "bash", { command: `cat '${root}/a [real]/secret/key'` }),
      denied,
    );
    assertEquals(await decide(rule, "read_file", { path: "other" }), ["approved"]);
    const file = `read_file(${root}/file)`;
    assertEquals(await decide(file, "read_file", { path: "other" }), ["denied", file]);
    const missing = `read_file(${root}/link/none/*.txt)`;
    assertEquals(await decide(missing, "read_file", { path: "none/a.txt" }), ["denied", missing]);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
