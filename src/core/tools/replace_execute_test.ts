import { assertEquals } from "@std/assert";
import { replaceExecute } from "./replace_execute.ts";
import type { AgentTool } from "./tool.ts";

class BaseTool {
  readonly description = "Reads a file.";
  get parameters() {
    return { type: "object" };
  }
  requiresApproval() {
    return true;
  }
}

/** A tool whose members are those of its classes. */
class ReadTool extends BaseTool {
  readonly name = "read";
  #count = 0;
  override requiresApproval() {
    return this.#count > 0;
  }
  execute() {
    return Promise.resolve(`call ${++this.#count}`);
  }
}

const createContext = (): Parameters<AgentTool["execute"]>[1] => JSON.parse("{}");

Deno.test("replaceExecute: keeps the members of the classes of a tool", async () => {
  const tool: AgentTool = new ReadTool();
  const replaced = replaceExecute(tool, () => Promise.resolve("other"));
  const { name, description, parameters, requiresApproval } = replaced;
  assertEquals([name, description, parameters], ["read", "Reads a file.", { type: "object" }]);
  const needsApproval = () => typeof requiresApproval === "function" && requiresApproval({});
  assertEquals(needsApproval(), false);
  assertEquals(await tool.execute({}, createContext()), "call 1");
  assertEquals(needsApproval(), true);
  assertEquals(await replaced.execute({}, createContext()), "other");
});
