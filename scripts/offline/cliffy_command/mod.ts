export { Command } from "./command.ts";
export type { Argument, CommandResult, Option, OptionOptions } from "./definition.ts";
export { ValidationError } from "./validation_error.ts";
