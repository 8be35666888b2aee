import { assertEquals } from "@std/assert";
import { userMessage } from "../../../mod.ts";
import type { AgentSetup } from "../../run/agent/setup_agent.ts";
import { ConversationStatus, type ConversationStatusOptions } from "./conversation_status.ts";

Deno.test("ConversationStatus: refreshGauge() does not end the program when the facts of models cannot be loaded", async () => {
  const loading = Promise.withResolvers<void>();
  const setup: Partial<AgentSetup> = Object.assign(Object.create(null), {
    agent: { state: { messages: [userMessage("Hello")] } },
    controls: { loadModelFacts: () => loading.promise },
  });
  let changes = 0;
  const options: Partial<ConversationStatusOptions> = {
    setup: setup as AgentSetup,
    onChange: () => changes++,
  };
  const status = new ConversationStatus(options as ConversationStatusOptions);
  status.refreshGauge();
  loading.reject(new Error("The catalog cannot be loaded"));
  // An unhandled rejection fails the test.
  await new Promise((resolve) => setTimeout(resolve));
  assertEquals(changes, 0);
});
