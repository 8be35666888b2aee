import { assertEquals } from "@std/assert";
import { chooseModel } from "./model_choice.ts";

/** Chooses the model for a recording, with a key for Anthropic. */
async function chooseForRecording(content: string): Promise<string> {
  const file = await Deno.makeTempFile();
  try {
    await Deno.writeTextFile(file, content);
    const env = (name: string) => name === "ANTHROPIC_API_KEY" ? "k" : undefined;
    const { provider, modelId } = await chooseModel({ replay: file }, { env });
    return `${provider}/${modelId}`;
  } finally {
    await Deno.remove(file);
  }
}

Deno.test("chooseModel(): the default model of a recording comes before that of the keys", async () => {
  assertEquals(await chooseForRecording('{"model":"gpt-6.2-sol"}'), "openai/gpt-6.2-sol");
  assertEquals(await chooseForRecording('{"model":"other"}'), "anthropic/claude-sonnet-5-5");
});

Deno.test("chooseModel(): the option comes before the keys", async () => {
  const env = (name: string) => name === "ANTHROPIC_API_KEY" ? "k" : undefined;
  const model = { provider: "openai", modelId: "b", thinkingLevel: "off" } as const;
  assertEquals(await chooseModel({ model }, { env }), model);
  assertEquals((await chooseModel({}, { env })).provider, "anthropic");
});
