/** The page keeps the question and the id of its answer in its URL, so that a reload continues the answer. */
export const answerPage = `<!doctype html>
<html lang="en">
<title>Answers</title>
<link rel="icon" href="data:,">
<form><label>Question <input name="question" required></label> <button>Ask</button></form>
<p><output></output></p>
<script type="module">
  const output = document.querySelector('output');
  let source;

  function showAnswer() {
    source?.close();
    output.textContent = '';
    const { id, question } = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    if (id === undefined) return;
    source = new EventSource('/v1/answers/' + id + '?' + new URLSearchParams({ question }));
    source.addEventListener('message', ({ data }) => output.append(JSON.parse(data)));
    source.addEventListener('resync', () => {
      // The log was emptied: EventSource connects again, and gets the new answer from its beginning.
      if (output.textContent !== '') return (output.textContent = '');
      source.close();
      output.append('The answer is no longer kept.');
    });
    source.addEventListener('end', () => source.close());
    source.addEventListener('error', ({ data }) => {
      // Without data, the connection was lost: EventSource connects again, unless the response was an error.
      if (data === undefined && source.readyState === EventSource.CONNECTING) return;
      source.close();
      output.append(data === undefined ? 'The answer was stopped.' : JSON.parse(data).message);
    });
  }

  document.querySelector('form').addEventListener('submit', (event) => {
    event.preventDefault();
    const question = new FormData(event.target).get('question');
    location.hash = new URLSearchParams({ id: crypto.randomUUID(), question });
  });
  addEventListener('hashchange', showAnswer);
  showAnswer();
</script>
</html>`;
