/**
 * Secrets in the arguments of a program.
 *
 * @module
 */

/** Matches the name of an option whose value is a secret, or a header that may have one. */
const SECRET_OPTION = /^-.*(?:key|token|secret|passw|credential|auth|header|bearer|cookie)|^-H$/i;

/** Returns the values of options, which follow `=` or are the next argument; also without the name of a header. */
export function getArgumentSecrets(args: readonly string[]): readonly string[] {
  return args.flatMap((arg, index) => {
    const [option = "", ...parts] = arg.split("=");
    if (!SECRET_OPTION.test(option)) return [];
    const value = parts.length > 0 ? parts.join("=") : args[index + 1] ?? "";
    return value.startsWith("-") ? [] : [value, value.replace(/^[\w-]+:\s*(?:\w+\s+)?/, "")];
  });
}
