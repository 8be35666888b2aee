export { Command, type CommandResult, type OptionSettings } from "./command.ts";
export { ValidationError } from "./validation_error.ts";
