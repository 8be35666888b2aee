import { createOpenAICompatible } from "npm:@ai-sdk/openai-compatible@2.0.92";
import { generateText, Output } from "npm:ai@7.0.173";
import { z } from "npm:zod@4.6.7";

const Invoice = z.object({ vendor: z.string(), total: z.number().positive() });
const lab = createOpenAICompatible({
  name: "lab",
  baseURL: Deno.env.get("LAB_URL") ?? "",
  apiKey: "key",
  supportsStructuredOutputs: true,
});
const MAX_COST = 0.05;
const REQUESTS_PER_MINUTE = 6_000;
let cost = 0;
let nextStart = 0;

async function takeTurn() {
  const now = Date.now();
  const start = Math.max(now, nextStart);
  nextStart = start + 60_000 / REQUESTS_PER_MINUTE;
  await new Promise((resolve) => setTimeout(resolve, start - now));
}

async function extract(document: string) {
  try {
    await takeTurn();
    if (cost >= MAX_COST) throw new Error(`The limit of ${MAX_COST} is reached`);
    const { output, usage } = await generateText({
      model: lab("large"),
      output: Output.object({ schema: Invoice }),
      prompt: `Extract the invoice:\n\n${document}`,
    });
    cost += ((usage.inputTokens ?? 0) * 3 + (usage.outputTokens ?? 0) * 15) / 1_000_000;
    return output;
  } catch (error) {
    return `${error}`;
  }
}

const documents = Array.from({ length: 200 }, (_, index) => `Invoice ${index}: Acme, 12.50`);
const invoices = await Promise.all(documents.map(extract));
const valid = invoices.filter((invoice) => typeof invoice !== "string");
console.log(valid.length, valid.reduce((sum, { total }) => sum + total, 0));
console.log(cost, invoices.find((invoice) => typeof invoice === "string"));
