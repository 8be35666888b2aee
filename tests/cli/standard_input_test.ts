/**
 * Runs of the program as a process with each kind of standard input.
 *
 * @module
 */

import { assertEquals, assertStringIncludes } from "@std/assert";
import { createDeadline } from "../deadline.ts";
import { scriptedReply } from "./fake_host.ts";
import { startMockProvider } from "./mock_provider.ts";
import { getBasicEnvironment, SWINK_COMMAND } from "./swink_process.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

/** Runs a command line of bash in which `$SWINK` is the program. */
async function runShell(line: string) {
  await using provider = startMockProvider(scriptedReply("Hi."));
  await using directory = await createTemporaryDirectory({
    "a.bin": new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1]),
    "latin1.txt": new Uint8Array([0x63, 0x61, 0x66, 0xe9]),
  });
  const swink = SWINK_COMMAND.map((word) => `'${word}'`).join(" ");
  const { code, stdout, stderr } = await new Deno.Command("bash", {
    args: ["-c", `swink() { ${swink} "$@"; }; ${line}`],
    cwd: directory.path,
    env: {
      ...getBasicEnvironment(),
      ANTHROPIC_API_KEY: "k",
      ANTHROPIC_BASE_URL: provider.url,
      NO_COLOR: "1",
    },
    clearEnv: true,
    stdin: "null",
    signal: createDeadline(),
  }).output();
  const [output, messages] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  const [request = ""] = provider.requests;
  return { code, output, messages: messages ?? "", prompt: request && findPrompt(request) };
}

function findPrompt(request: string): string {
  return JSON.parse(request).messages[0].content.map(({ text }: { text: string }) => text).join("");
}

for (
  const [kind, line, prompt] of [
    ["closed", "swink run -q Hello <&-", "Hello"],
    ["open only for writing, as nohup does", "swink run -q Hello 0> /dev/null", "Hello"],
    ["empty", "swink run -q Hello < /dev/null", "Hello"],
    ["a file", "printf 'a\\nb\\n' > f; swink run -q Hello < f", "Hello\n\n<stdin>\na\nb\n</stdin>"],
    [
      "a slow pipe",
      "(echo a; sleep 0.5; echo b) | swink run -q Hello",
      "Hello\n\n<stdin>\na\nb\n</stdin>",
    ],
    ["a late pipe that - waits for", "(sleep 3.5; echo a) | swink run -q -", "a\n"],
  ] as const
) {
  Deno.test(`process: standard input that is ${kind} becomes part of the prompt`, async () => {
    const result = await runShell(line);
    assertEquals([result.code, result.output, result.prompt], [0, "Hi.\n", prompt]);
  });
}

for (
  const [kind, line, reason] of [
    ["a directory", "swink run Hello < .", "Standard input cannot be read: Is a directory"],
    ["endless", "swink run Hello < /dev/zero", "Standard input is larger than 10 MB"],
    ["binary", "swink run Hello < a.bin", "Standard input is not text in UTF-8"],
    ["in another encoding", "swink run Hello < latin1.txt", "Standard input is not text in UTF-8"],
    ["empty without another prompt", "swink run < /dev/null", "The prompt is empty"],
    ["closed without another prompt", "swink run <&-", "The prompt is empty"],
  ] as const
) {
  Deno.test(`process: standard input that is ${kind} ends with 2`, async () => {
    const { code, output, messages, prompt } = await runShell(line);
    assertEquals([code, output, prompt], [2, "", ""]);
    assertStringIncludes(messages, `swink: ${reason}\n`);
  });
}
