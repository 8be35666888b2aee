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

/** A complete image of 3 × 2 pixels. */
const GIF = Uint8Array.fromBase64("R0lGODlhAwACAIAAAAAAAP///ywAAAAAAwACAAACAoRRADs=");

/** Runs a command line of bash in which `$SWINK` is the program. */
async function runShell(line: string) {
  await using provider = startMockProvider(scriptedReply("Hi."));
  await using directory = await createTemporaryDirectory({
    "a.bin": new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1]),
    "a.gif": GIF,
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
  return {
    code,
    output,
    messages: messages ?? "",
    request,
    prompt: request && findPrompt(request),
  };
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
  const [kind, line, sent] of [
    ["--system-file", "echo Canary > f; swink run -q Hello --system-file /dev/stdin < f", "Canary"],
    [
      "--json-schema",
      `echo '{"type":"object","title":"Canary"}' > f; swink run -q Hello --json-schema /dev/fd/0 < f`,
      "Canary",
    ],
    [
      "--mcp-config",
      `echo '{"mcpServers":{}}' > f; swink run -q Hello --mcp-config /dev/stdin < f`,
      "Hello",
    ],
    ["--image, a file", "swink run -q Hello -i /dev/stdin < a.gif", "image/gif"],
    ["--image, a pipe", "cat a.gif | swink run -q Hello -i /dev/stdin", "image/gif"],
  ] as const
) {
  Deno.test(`process: standard input that is the file of ${kind} is no part of the prompt`, async () => {
    const { messages, prompt, request } = await runShell(line);
    assertEquals([messages.includes("standard input"), prompt], [false, "Hello"]);
    assertStringIncludes(request, sent);
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
    ["an image without a prompt", "swink run -i /dev/stdin < a.gif", "The prompt is empty"],
  ] as const
) {
  Deno.test(`process: standard input that is ${kind} ends with 2`, async () => {
    const { code, output, messages, prompt } = await runShell(line);
    assertEquals([code, output, prompt], [2, "", ""]);
    assertStringIncludes(messages, `swink: ${reason}\n`);
  });
}
