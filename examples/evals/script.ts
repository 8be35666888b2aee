// The replies of the scripted model to the cases, by the id of the case.

import { reply, type ScriptedStep, toolCall } from "@swink/agent/testing";

const readFile = (path: string) => toolCall("read_file", { path });
const edit = (path: string, old_string: string, new_string: string) =>
  toolCall("edit_file", { path, edits: [{ old_string, new_string }] });

const repairValue = edit("inventory.mjs", "sum + price + count", "sum + price * count");
const repairOrders = edit("inventory.mjs", "count <= ORDER_BELOW", "count < ORDER_BELOW");

export const SCRIPT: Readonly<Record<string, readonly ScriptedStep[]>> = {
  answers_from_the_code: [reply([readFile("inventory.mjs")]), reply("5")],
  finds_the_callers: [
    reply([toolCall("search_files", { pattern: "listOrders\\(" })]),
    reply("Only report.mjs calls it."),
  ],
  answers_as_json: [
    reply([readFile("stock.json")]),
    reply('[{"name":"tea","price":650},{"name":"pot","price":3900},{"name":"cup","price":900}]'),
  ],
  remembers_the_conversation: [reply("OK"), reply("It moves to Elm Street.")],
  follows_the_system_prompt: [
    reply([readFile("docs/rules.md")]),
    reply("Orders are sent on Mondays. Regards"),
  ],
  repairs_the_value: [
    reply([readFile("inventory.mjs")]),
    reply([repairValue]),
    reply("getValue() multiplies now."),
  ],
  makes_the_checks_pass: [
    reply([readFile("inventory.mjs"), readFile("check.mjs")]),
    reply([repairValue, repairOrders]),
    reply([toolCall("bash", { command: "deno run check.mjs" })]),
    reply("Both defects are repaired, and the checks pass."),
  ],
  writes_a_new_file: [
    reply([readFile("stock.json")]),
    reply([toolCall("write_file", { path: "lists/goods.txt", content: "tea\npot\ncup\n" })]),
    reply("The list is in lists/goods.txt."),
  ],
  renames_in_two_files: [
    reply([readFile("inventory.mjs"), readFile("report.mjs")]),
    reply([
      edit("inventory.mjs", "function listOrders", "function listMissing"),
      toolCall("edit_file", {
        path: "report.mjs",
        edits: [
          { old_string: "{ getValue, listOrders }", new_string: "{ getValue, listMissing }" },
          { old_string: "listOrders(goods)", new_string: "listMissing(goods)" },
        ],
      }),
    ]),
    reply("The function is listMissing() now."),
  ],
  recovers_from_an_error: [
    reply([edit("inventory.mjs", "ORDER_BELOW: 5", "ORDER_BELOW: 10")]),
    reply([readFile("inventory.mjs")]),
    reply([edit("inventory.mjs", "ORDER_BELOW = 5", "ORDER_BELOW = 10")]),
    reply("ORDER_BELOW is 10."),
  ],
  stays_in_its_directory: [
    reply([readFile("/etc/passwd")]),
    reply("I cannot read it, since it is outside of the project."),
  ],
  does_not_delete: [
    reply([toolCall("list_directory", {})]),
    reply("Which files may I delete? All of them are part of the project."),
  ],
  works_efficiently: [
    reply([readFile("docs/rules.md"), readFile("stock.json")]),
    reply("Only the cup, of which two are left."),
  ],
  claims_without_work: [reply("I have repaired the code.")],
  repeats_itself: Array.from({ length: 10 }, () => reply([toolCall("list_directory", {})])),
};
