// Passes a value to the tools and policies of one run: a user, a database, a request.
//
// The context is never sent to the model, stored or logged, so that one set of tools serves all users.

import { Agent, defineTool, extractText, type Policy, type ToolContext } from "@swink/agent";
import { reply, scriptedStream, toolCall } from "@swink/agent/testing";

interface App {
  user: { name: string; isAdmin: boolean };
  orders: Map<string, string[]>;
}

const listOrders = defineTool({
  name: "list_orders",
  description: "Lists the orders of the user.",
  parameters: { type: "object" },
  readOnly: true,
  execute(_args, { context: { user, orders } }: ToolContext<App>) {
    return (orders.get(user.name) ?? []).join(", ") || "no orders";
  },
});

/** Removes the tools of a request whose user has no access to them. */
const adminsOnly: Policy = {
  name: "admins_only",
  preRequest({ context }) {
    const { user } = context as App;
    if (!user.isAdmin) return { type: "change", tools: [] };
  },
};

const orders = new Map([["ada", ["lamp", "desk"]]]);
for (const user of [{ name: "ada", isAdmin: true }, { name: "bob", isAdmin: false }]) {
  const agent = new Agent({
    model: "example/scripted",
    tools: [listOrders],
    policies: [adminsOnly],
    streamFn: scriptedStream([
      ({ context: { tools } }) =>
        tools.length > 0 ? reply([toolCall("list_orders")]) : reply("You have no access."),
      ({ context: { messages } }) =>
        reply(`You ordered: ${extractText(messages.at(-1)?.content ?? [])}.`),
    ]),
  });
  const { text } = await agent.prompt("What did I order?", { context: { user, orders } });
  console.log(`${user.name}: ${text}`);
}

// Prints:
// ada: You ordered: lamp, desk.
// bob: You have no access.
