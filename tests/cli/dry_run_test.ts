/**
 * `swink run --dry-run`.
 *
 * @module
 */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { main } from "../../cli/main.ts";
import { createFakeHost } from "./fake_host.ts";
import { createTemporaryDirectory } from "./temporary_directory.ts";

/** Runs `swink run --dry-run` without a model. */
async function runDry(env: Readonly<Record<string, string>>, ...args: string[]) {
  await using home = await createTemporaryDirectory({ "p/x": "" });
  const host = createFakeHost({ env: { HOME: home.path, ...env } });
  const cwd = `${home.path}/p`;
  const code = await main(["run", "--dry-run", "--cwd", cwd, ...args, "Say \u001bhi"], host);
  const sessions = await Deno.stat(`${home.path}/.local`).then(() => true, () => false);
  return { code, output: host.output, messages: host.messages, requests: host.requests, sessions };
}

Deno.test("swink run --dry-run: prints the first request, its size and its cost, and sends nothing", async () => {
  const { code, output, messages, requests, sessions } = await runDry({
    ANTHROPIC_API_KEY: "sk-canary",
  });
  assertEquals([code, messages, requests.length, sessions], [0, "", 0, false]);
  const [request = "", facts = "", empty, ...body] = output.split("\n");
  assertEquals([request, empty], ["POST https://api.anthropic.com/v1/messages", ""]);
  assertMatch(facts, /^\d,\d{3} bytes, about \d,\d{3} tokens, costs at most \$\d\.\d{4}$/);
  const parsed = JSON.parse(body.join("\n"));
  assertEquals(parsed.messages[0].content[0].text, "Say \u001bhi");
  assertEquals(output.includes("canary") || output.includes("\u001b"), false);
});

Deno.test("swink run --dry-run: needs no key", async () => {
  const { code, output } = await runDry({}, "-m", "openai/gpt-6.2-sol", "-ojson");
  const { type, url, bytes, inputTokens, maxCost, body } = JSON.parse(output);
  assertEquals([code, type, url], [0, "dry_run", "https://api.openai.com/v1/responses"]);
  assertEquals(bytes, new TextEncoder().encode(JSON.stringify(body)).length);
  assert(inputTokens > 500 && maxCost > 0);
});

Deno.test("swink run --dry-run: an unknown price is null, not 0", async () => {
  const { output } = await runDry({}, "-m", "anthropic/unknown", "-ojson");
  assertEquals(JSON.parse(output).maxCost, null);
  assertStringIncludes(
    (await runDry({}, "-m", "anthropic/unknown")).output,
    "the price is unknown\n",
  );
});

Deno.test("swink run --dry-run: the request has the schema of the answer", async () => {
  const schema = { type: "object", properties: { a: { type: "string" } } };
  const { code, output } = await runDry(
    {},
    "-m",
    "anthropic/claude-sonnet-5-5",
    "-ojson",
    "--json-schema",
    JSON.stringify(schema),
  );
  assertEquals(code, 0);
  const { bytes, body } = JSON.parse(output);
  assertEquals(bytes, new TextEncoder().encode(JSON.stringify(body)).length);
  const names = body.tools.map(({ name }: { readonly name: string }) => name);
  assert(names.includes("structured_output"), names.join(" "));
  const invalid = await runDry(
    {},
    "-m",
    "anthropic/claude-sonnet-5-5",
    "--json-schema",
    '{"type":"strng"}',
  );
  assertEquals(invalid.code, 2);
});

Deno.test("swink run: the first request of a project without instructions has at most 8 KB", async () => {
  for (const model of ["anthropic/claude-sonnet-5-5", "openai/gpt-6.2-sol", "google/gemini-x"]) {
    const { output } = await runDry({}, "-m", model, "-ojson");
    assert(JSON.parse(output).bytes <= 8_192, `${model}: ${output.slice(0, 200)}`);
  }
});

Deno.test("swink run --dry-run: a missing model is an error", async () => {
  assertEquals((await runDry({})).code, 3);
  assertEquals((await runDry({}, "-c")).code, 2);
});

Deno.test("swink run --dry-run: refuses a model on this device, which would reply", async () => {
  const { code, messages } = await runDry({}, "-m", "local/x");
  assertEquals(code, 2);
  assertStringIncludes(
    messages,
    "--dry-run cannot be used with local/x, which runs on this device",
  );
});

Deno.test("swink run --dry-run: leaves out the password and the keys of a base URL", async () => {
  const url = "http://u:canary1@127.0.0.1:9/v1?api-version=1&api_key=canary2";
  for (const format of ["text", "json"]) {
    const { code, output } = await runDry({}, "-m", "openai/x", "--base-url", url, "-o", format);
    assertEquals([code, output.includes("canary")], [0, false]);
    assertStringIncludes(output, "http://127.0.0.1:9/v1/chat/completions?api-version=1&api_key=");
  }
});
