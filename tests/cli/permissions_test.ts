/**
 * The permissions of Deno that `docs/cli.md` lists for the uses of the program.
 *
 * @module
 */

import { assert, assertEquals } from "@std/assert";
import { root } from "../project.ts";
import { scriptedCall, scriptedReply } from "./fake_host.ts";
import { startMockProvider } from "./mock_provider.ts";
import { startSwink } from "./swink_process.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

const PAGE = await Deno.readTextFile(new URL("docs/cli.md", root));

/** Returns the permissions of the row of the documentation that names a use. */
function getPermissions(use: string): string[] {
  const section = PAGE.split("\n## ").find((text) => text.startsWith("Permissions of Deno\n")) ??
    "";
  const row = section.split("\n").find((line) =>
    line.startsWith("| `") && line.includes(`\`${use}\``)
  );
  assert(row, use);
  return row.split("|").at(-2)?.match(/--allow-[a-z]+/g) ?? [];
}

/** Runs the program with permissions in a project of its own; returns its exit code and messages. */
async function run(permissions: readonly string[], args: readonly string[]) {
  await using home = await createTemporaryDirectory({ "p/a.txt": "text\n" });
  const calls = [
    scriptedCall("read_file", { path: "a.txt" }),
    scriptedCall("search_files", { pattern: "text" }),
    ...(args.includes("--approve-all") ? [scriptedCall("bash", { command: "echo made" })] : []),
  ];
  await using provider = startMockProvider(scriptedReply(...calls), scriptedReply("Done."));
  const isRun = args[0] === "run";
  await using swink = startSwink(
    [...args, ...(isRun ? [...MODEL, "--base-url", provider.url, "Work"] : [])],
    {
      cwd: `${home.path}/p`,
      env: { XDG_CONFIG_HOME: home.path, XDG_STATE_HOME: home.path, ANTHROPIC_API_KEY: "k" },
      permissions: ["--no-prompt", ...permissions],
    },
  );
  const { code, output, messages } = await swink.waitForExit();
  return { code, text: output + messages };
}

const MODEL = ["-m", "anthropic/claude-sonnet-5-5"];
const READ_ONLY = ["--tools", "read_file,list_directory,search_files"];

const USES: readonly (readonly [use: string, args: readonly string[]])[] = [
  ["swink --version", ["--version"]],
  ["swink models", ["models", "sonnet"]],
  ["swink config get", ["config", "get"]],
  ["swink sessions list", ["sessions", "list"]],
  ["swink config set", ["config", "set", "max_turns", "5"]],
  ["swink rules add", ["rules", "add", "deny", "bash(git push *)"]],
  ["swink run --tools read_file,list_directory,search_files", ["run", ...READ_ONLY]],
  ["swink run", ["run", "--approve-all"]],
  ["swink demo", ["demo"]],
];

for (const [use, args] of USES) {
  Deno.test(`permissions: ${use} runs with those of the documentation, and needs each of them`, async () => {
    const permissions = getPermissions(use);
    const { code, text } = await run(permissions, args);
    assertEquals([code, text.includes("Requires ")], [0, false], text);
    for (const missing of permissions) {
      const others = permissions.filter((permission) => permission !== missing);
      const { text } = await run(others, args);
      assert(text.includes(missing), `${missing}: ${text}`);
      assertEquals(text.includes("    at "), false, text);
    }
  });
}
