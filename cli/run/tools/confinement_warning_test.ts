import { assertEquals, assertThrows } from "@std/assert";
import { ConfigurationError } from "../../host/cli_error.ts";
import { createConfinementWarning } from "./confinement_warning.ts";

const PARTLY = { status: "partly_confined", summary: "commands only PARTLY confined" } as const;
const CONFINED = { status: "confined", summary: "commands confined" } as const;

Deno.test("createConfinementWarning(): warns of incomplete confinement, and fails if it is required", () => {
  assertEquals(createConfinementWarning("auto", CONFINED), undefined);
  assertEquals(createConfinementWarning("required", CONFINED), undefined);
  assertEquals(createConfinementWarning("auto", PARTLY), "Sandbox: commands only PARTLY confined");
  assertThrows(
    () => createConfinementWarning("required", PARTLY),
    ConfigurationError,
    "The sandbox is required, but incomplete: commands only PARTLY confined",
  );
});
