import { Agent } from "@swink/agent";
import { connect, RateLimiter } from "@swink/agent/adapters";
import { sharedBudget } from "@swink/agent/policies";
import { z } from "npm:zod@4.6.7";

const Invoice = z.object({ vendor: z.string(), total: z.number().positive() });
const limiter = new RateLimiter({ requestsPerMinute: 6_000 });
const streamFn = connect({
  limiter,
  providers: { lab: { baseUrl: Deno.env.get("LAB_URL"), apiKey: "key" } },
});
const budget = sharedBudget({ cost: 0.05 });

async function extract(document: string) {
  const agent = new Agent({
    model: "lab/large",
    streamFn,
    prices: { "lab/large": { input: 3, output: 15 } },
    policies: [budget],
  });
  try {
    return await agent.structuredOutput(`Extract the invoice:\n\n${document}`, Invoice);
  } catch (error) {
    return `${error}`;
  }
}

const documents = Array.from({ length: 200 }, (_, index) => `Invoice ${index}: Acme, 12.50`);
const invoices = await Promise.all(documents.map(extract));
const valid = invoices.filter((invoice) => typeof invoice !== "string");
console.log(valid.length, valid.reduce((sum, { total }) => sum + total, 0));
console.log(budget.spent.cost.total, invoices.find((invoice) => typeof invoice === "string"));
console.log(
  budget.spent,
  Map.groupBy(invoices, (i) => typeof i === "string" ? i : "ok").entries().map(([k, v]) =>
    k + v.length
  ).toArray(),
);
