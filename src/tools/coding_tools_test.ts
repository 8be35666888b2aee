import { assert, assertEquals, assertThrows } from "@std/assert";
import { TestWorkspace } from "../../tests/sandbox/test_workspace.ts";
import { BadRequestError } from "../core/errors/errors.ts";
import { testToolContext } from "../testing/test_tool_context.ts";
import { codingTools } from "./coding_tools.ts";
import { fetchUrlTool } from "./fetch_url.ts";

Deno.test("codingTools(): without jobs, returns six tools and bash without the background parameter", async () => {
  await using workspace = new TestWorkspace();
  assertEquals(workspace.tools.map(({ name }) => name), [
    "read_file",
    "write_file",
    "edit_file",
    "list_directory",
    "search_files",
    "bash",
  ]);
  assert(!JSON.stringify(workspace.getTool("bash").parameters).includes("background"));
});

Deno.test("codingTools(): every tool has a label of its own", async () => {
  await using workspace = new TestWorkspace({}, { jobs: true, fetchUrl: true, todo: true });
  assertEquals(workspace.tools.map(({ name, label }) => [name, label]), [
    ["read_file", "Read file"],
    ["write_file", "Write file"],
    ["edit_file", "Edit file"],
    ["list_directory", "List directory"],
    ["search_files", "Search files"],
    ["bash", "Run command"],
    ["job_output", "Job output"],
    ["job_stop", "Stop job"],
    ["fetch_url", "Fetch page"],
    ["todo", "Plan"],
  ]);
});

Deno.test("codingTools(): every tool refuses properties that it does not know", async () => {
  await using workspace = new TestWorkspace({}, { jobs: true, fetchUrl: true, todo: true });
  for (const { name, parameters } of workspace.tools) {
    assertEquals([name, parameters], [name, { ...parameters, additionalProperties: false }]);
  }
});

Deno.test("codingTools(): cwd is the directory of the tools", async () => {
  const directory = await Deno.makeTempDir({ prefix: "swink_test_" });
  await Deno.writeTextFile(`${directory}/only_here`, "");
  for (const sandbox of [undefined, { cwd: undefined }]) {
    const tools = codingTools({ cwd: directory, sandbox });
    const list = tools.find(({ name }) => name === "list_directory");
    const listed = await list?.execute({ path: "." }, testToolContext());
    assertEquals(JSON.stringify(listed).includes("only_here"), true);
  }
  await Deno.remove(directory, { recursive: true });
});

Deno.test("codingTools(): refuses a misspelt option, which would create tools with other rights", () => {
  const wrong: [unknown, string][] = [
    [{ sandBox: {} }, 'Unknown option "sandBox" of codingTools(): did you mean sandbox?'],
    [{ readOnly: true }, 'option "readOnly" of codingTools(): pass it as sandbox: { readOnly }'],
    [{ net: "off" }, 'Unknown option "net" of codingTools(): pass it as sandbox: { net }'],
    [{ sandbox: "/work" }, 'sandbox must be a sandbox, or the options of one, not "/work"'],
    ["/work", 'The options of codingTools() must be an object, such as { sandbox }, not "/work"'],
    [{ fetchUrl: { host: ["a"] } }, 'option "host" of fetchUrlTool(): did you mean hosts?'],
  ];
  for (const [options, message] of wrong) {
    assertThrows(() => codingTools(options as never), BadRequestError, message);
  }
});

Deno.test("fetchUrlTool(): refuses a misspelt option, which would allow all hosts", () => {
  const message = 'Unknown option "allowedHosts" of fetchUrlTool()';
  assertThrows(
    () => fetchUrlTool({ allowedHosts: ["a"] } as never),
    BadRequestError,
    message,
  );
  assertThrows(
    () => fetchUrlTool({ hosts: "example.org" as never }),
    BadRequestError,
    'hosts must be an array of hosts, not "example.org"',
  );
});
