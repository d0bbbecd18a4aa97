import { Configuration, describeVariable, withoutEmptyValues, VariableName } from './configuration.ts';

/** Returns every variable with its default as text, for the documentation and `--help`. */
function rows() {
  const defaults = Configuration.parse({});
  return VariableName.options.map((name) => {
    const { description, takes } = describeVariable(name);
    const defaultValue = defaults[name];
    // Lists and rates have no default.
    const hasText = typeof defaultValue === 'string' || typeof defaultValue === 'number';
    return { name, description, takes, defaultValue: hasText ? String(defaultValue) : undefined };
  });
}

/** Formats the value of every variable, one per line, without secrets. */
export function configurationText(environment: Readonly<Record<string, string | undefined>>): string {
  const set = withoutEmptyValues(environment);
  return rows()
    .map(({ name, defaultValue }) => {
      const value = set[name];
      if (value === undefined) return `${name}=${defaultValue ?? ''}`;
      return `${name}=${describeVariable(name).secret ? '(set, not shown)' : value}`;
    })
    .join('\n');
}

/** Formats the list of `docs/configuration.md` in Markdown. */
export function configurationList(): string {
  return rows()
    .map(
      ({ name, defaultValue, description, takes }) =>
        `- \`${name}\` (${defaultValue === undefined ? 'unset' : `\`${defaultValue}\``}): ${description}. _${takes}_`,
    )
    .join('\n');
}

/** Formats the variables for `--help`. */
export function configurationHelp(): string {
  return rows()
    .map(({ name, defaultValue, description, takes }) =>
      `  ${name} (${defaultValue ?? 'unset'})\n      ${description}.\n      Value: ${takes}.`.replaceAll(
        '`',
        '',
      ),
    )
    .join('\n');
}
