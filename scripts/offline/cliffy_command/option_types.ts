/** What a command's action gets, read from the text of its flags and arguments. */

interface ValueTypes {
  string: string;
  number: number;
  integer: number;
  boolean: boolean;
}

type ValueOf<T> = T extends `${infer Item}[]` ? ValueOf<Item>[]
  : T extends keyof ValueTypes ? ValueTypes[T]
  : string;

type CamelCase<S> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

type FlagName<Flags> = Flags extends `${string}--${infer Name} ${string}` ? Name
  : Flags extends `${string}--${infer Name}` ? Name
  : never;

type FlagValue<Flags> = Flags extends `${string}<${string}:${infer Type}>` ? ValueOf<Type>
  : Flags extends `${string}[${string}:${infer Type}]` ? ValueOf<Type> | true
  : Flags extends `${string}<${string}>` ? string
  : true;

type Collected<Value, Settings> = Settings extends { collect: true } ? Value[] : Value;

type IsPresent<Settings> = Settings extends { required: true } ? true
  : Settings extends { default: unknown } ? true
  : false;

type Keyed<Name extends string, Value, Present> = Present extends true ? { [K in Name]: Value }
  : { [K in Name]?: Value };

/** `--max-turns <count:integer>` gives `{ maxTurns?: number }`. */
export type OptionOf<Flags extends string, Settings> = FlagName<Flags> extends `no-${infer Name}`
  ? { [K in CamelCase<Name>]: boolean }
  : Keyed<CamelCase<FlagName<Flags>>, Collected<FlagValue<Flags>, Settings>, IsPresent<Settings>>;

/** `<file:string> [rest...:string]` gives `[string, ...string[]]`. */
export type ArgumentsOf<Text extends string> = Text extends `${infer First} ${infer Rest}`
  ? [...ArgumentOf<First>, ...ArgumentsOf<Rest>]
  : ArgumentOf<Text>;

type ArgumentOf<Text> = Text extends `<${string}...:${infer Type}>`
  ? [ValueOf<Type>, ...ValueOf<Type>[]]
  : Text extends `[${string}...:${infer Type}]` ? ValueOf<Type>[]
  : Text extends `<${string}:${infer Type}>` ? [ValueOf<Type>]
  : Text extends `[${string}:${infer Type}]` ? [ValueOf<Type>?]
  : Text extends `<${string}>` ? [string]
  : [string?];
