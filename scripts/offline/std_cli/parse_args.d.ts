/** The values of options, by name: an array if the option is collected, and the other arguments as `_`. */
type Args<Booleans extends string, Strings extends string, Collected extends string> =
  & { [Name in Booleans]: boolean }
  & { [Name in Exclude<Strings, Collected>]?: string }
  & { [Name in Strings & Collected]: string[] }
  & { _: (string | number)[] };

export declare function parseArgs<
  Booleans extends string = never,
  Strings extends string = never,
  Collected extends string = never,
>(args: readonly string[], options: {
  boolean?: readonly Booleans[];
  string?: readonly Strings[];
  collect?: readonly Collected[];
  unknown?: (argument: string) => unknown;
}): Args<Booleans, Strings, Collected>;
