import { assert, assertEquals } from "@std/assert";
import { createTemporaryDirectory } from "../../../tests/cli/temporary_directory.ts";
import { chooseModel } from "./model_choice.ts";

/** Chooses the model for a recording with one request, with a key for Anthropic. */
async function chooseForRecording(url: string, json: object): Promise<string> {
  const file = await Deno.makeTempFile();
  try {
    const exchange = { exchange: 1, request: { method: "POST", url, headers: {}, body: { json } } };
    await Deno.writeTextFile(file, `{"cassette":1}\n${JSON.stringify(exchange)}\n`);
    const variables: Readonly<Record<string, string>> = {
      ANTHROPIC_API_KEY: "k",
      MISTRAL_BASE_URL: "http://mistral.test/",
    };
    // The runtime rejects a variable without a name.
    const env = (name: string) => {
      assert(name !== "");
      return variables[name];
    };
    const providers = {
      lab: { baseUrl: "https://lab.test/v1" },
      anthropic: { baseUrl: "https://lab.test" },
    };
    const { provider, modelId } = await chooseModel({ replay: file, providers }, { env });
    return `${provider}/${modelId}`;
  } finally {
    await Deno.remove(file);
  }
}

Deno.test("chooseModel(): the model of a recording comes before that of the keys", async () => {
  const cases = [
    ["https://api.openai.com/v1/responses", "openai/m:1"],
    ["https://api.anthropic.com/v1/messages", "anthropic/m:1"],
    ["https://openrouter.ai/api/v1/chat/completions", "openrouter/m:1"],
    ["http://localhost:11434/api/chat", "ollama/m:1"],
    ["http://mistral.test/chat/completions", "mistral/m:1"],
    ["https://lab.test/v1/chat/completions", "lab/m:1"],
    ["https://lab.test/v1/messages", "anthropic/m:1"],
    // No provider has these URLs; the first one has an API that gateways offer.
    ["https://lab.test/v10/chat/completions", "openai/m:1"],
    ["https://api.openai.com.other.test/v1/responses", "anthropic/claude-sonnet-5-5"],
  ] as const;
  for (const [url, expected] of cases) {
    assertEquals(await chooseForRecording(url, { model: "m:1" }), expected);
  }
  const google =
    "https://generativelanguage.googleapis.com/v1beta/models/g-2:streamGenerateContent";
  assertEquals(await chooseForRecording(google, { contents: [] }), "google/g-2");
  // The text of a prompt is not the name of a model.
  const other = { messages: [{ content: "gpt-6.2-sol" }] };
  assertEquals(
    await chooseForRecording("https://api.openai.com/v1/responses", other),
    "anthropic/claude-sonnet-5-5",
  );
});

Deno.test("chooseModel(): ignores a recording that is empty or invalid", async () => {
  await using directory = await createTemporaryDirectory({
    "empty.jsonl": "",
    "cut.jsonl": '{"cassette":1}\n{"exchange":1,"request":{"url":"https://api.open',
    "list.jsonl": '{"cassette":1}\n[]\n',
  });
  for (const name of ["empty.jsonl", "cut.jsonl", "list.jsonl"]) {
    const selection = { replay: `${directory.path}/${name}` };
    const env = (name: string) => name === "OPENAI_API_KEY" ? "k" : undefined;
    assertEquals((await chooseModel(selection, { env })).provider, "openai");
  }
});

Deno.test("chooseModel(): the option comes before the keys", async () => {
  const env = (name: string) => name === "ANTHROPIC_API_KEY" ? "k" : undefined;
  const model = { provider: "openai", modelId: "b", thinkingLevel: "off" } as const;
  assertEquals(await chooseModel({ model }, { env }), model);
  assertEquals((await chooseModel({}, { env })).provider, "anthropic");
});
