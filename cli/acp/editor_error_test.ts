import { assertEquals } from "@std/assert";
import { formatForEditor } from "./editor_error.ts";

Deno.test("formatForEditor(): omits advice about options that an editor cannot have, and names the place of others", () => {
  const format = (message: string, advice: string) => formatForEditor({ message, advice });
  assertEquals(format("It is open", "Continue in a copy: add --fork."), "It is open");
  assertEquals(format("It is open", ""), "It is open");
  assertEquals(format("No key", "Run swink login."), "No key. Run swink login");
  const hint = "Options are part of the command of the agent in the settings of the editor";
  assertEquals(
    format("Not confined", "Use --sandbox auto."),
    `Not confined. Use --sandbox auto. ${hint}`,
  );
  assertEquals(format("Invalid value for --config", ""), `Invalid value for --config. ${hint}`);
  assertEquals(format("No", "Use --sandbox auto or --cwd."), "No");
});
