import { Configuration, described, setIn, VariableName } from './configuration.ts';

/** Every variable with its default as text: what the table and `--help` are printed from. */
function rows() {
  const defaults = Configuration.parse({});
  return VariableName.options.map((name) => {
    const { description, takes } = described(name);
    const standard = defaults[name];
    // A list and a rate have none.
    const hasText = typeof standard === 'string' || typeof standard === 'number';
    return { name, description, takes, standard: hasText ? String(standard) : undefined };
  });
}

/** What every variable is, a line for each; secrets are not shown. */
export function configurationText(environment: Readonly<Record<string, string | undefined>>): string {
  const set = setIn(environment);
  return rows()
    .map(({ name, standard }) => {
      const value = set[name];
      if (value === undefined) return `${name}=${standard ?? ''}`;
      return `${name}=${described(name).secret ? '(set, not shown)' : value}`;
    })
    .join('\n');
}

/** The README's table, in Markdown. */
export function configurationTable(): string {
  const lines = rows().map(
    ({ name, standard, description, takes }) =>
      `| \`${name}\` | ${standard === undefined ? 'unset' : `\`${standard}\``} | ${description}. | ${takes} |`,
  );
  return ['| variable | default | what it does | takes |', '|---|---|---|---|', ...lines].join('\n');
}

/** The variables as `--help` shows them. */
export function configurationHelp(): string {
  return rows()
    .map(({ name, standard, description, takes }) =>
      `  ${name} (${standard ?? 'unset'})\n      ${description}.\n      Takes ${takes}.`.replaceAll('`', ''),
    )
    .join('\n');
}
