// The forms that answer the agent's questions, and the button that sends several answers together.

import type { Chat } from '../../store/chat';
import { answerText } from '../../store/message';
import type { Question } from '../../store/questions';
import { QuestionForm } from './form';
import './questions.css';

interface Props {
  chat: Chat;
  /** The questions of one message. */
  questions: readonly Question[];
}

export function Answering({ chat, questions }: Props) {
  const { answers } = chat;
  const all = chat.questions.value;
  const last = questions.at(-1)?.id === all.at(-1)?.id;
  return (
    <section class="questions" aria-label="Questions to you" data-testid="questions">
      {questions.map((question) => (
        <Asked key={question.id} chat={chat} question={question} />
      ))}
      {last && all.length > 1 && (
        <p class="question-buttons">
          <button
            type="button"
            class="button primary"
            disabled={answers.missing.value > 0 || answers.sending.value}
            onClick={() => void answers.send()}
          >
            Send {all.length} answers
          </button>
          {answers.missing.value > 0 && <span class="hint">{answers.missing.value} missing</span>}
        </p>
      )}
    </section>
  );
}

function Asked({ chat, question }: { chat: Chat; question: Question }) {
  const { answers } = chat;
  const given = answers.given.value.get(question.id);
  if (!given) {
    return (
      <QuestionForm question={question} give={(value) => void answers.give(question, value)} />
    );
  }
  return (
    <div class="question" data-testid="question">
      <p dir="auto">{question.text || question.name}</p>
      <p class="question-buttons">
        <b dir="auto">{answerText(given)}</b>
        <button
          type="button"
          class="button small quiet"
          disabled={answers.sending.value}
          onClick={() => answers.take(question)}
        >
          Change
        </button>
      </p>
    </div>
  );
}
