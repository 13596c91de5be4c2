//! Tests which measurements count as a fault after a siege, and that every course is bounded.

use super::*;

#[test]
fn what_is_not_given_back_is_a_fault_that_names_the_program() {
    let held = |resident, descriptors| Held { resident, descriptors };
    let seen = |after| Seen {
        program: "agent",
        cold: held(50_000, 20),
        before: held(100_000, 30),
        peak: held(900_000, 900),
        after,
    };
    assert_eq!(faults(&[seen(held(110_000, 33))], &[]), [""; 0]);
    assert_eq!(faults(&[seen(held(1_000, 1))], &[]), [""; 0]);
    let told = faults(&[seen(held(111_000, 34))], &[]);
    assert_eq!(told, ["agent: 111 kB resident, 100 kB before", "agent: 34 descriptors, 30 before"]);
}

#[test]
fn whoever_answers_late_or_not_at_all_is_a_fault() {
    let answered = |ms| Answered { listener: "backend", ms };
    assert_eq!(faults(&[], &[answered(Some(1000))]), [""; 0]);
    assert_eq!(faults(&[], &[answered(Some(1001))]), ["backend: answered after 1001 ms"]);
    assert_eq!(faults(&[], &[answered(None)]), ["backend: answered wrongly or not at all"]);
}

#[test]
fn every_course_is_one_that_no_listener_takes_for_a_whole_request_but_a_guess() {
    for target in Target::ALL {
        for shape in Shape::ALL {
            for number in 0..2 {
                let course = course(target, shape, "127.0.0.1:1", number);
                let first = String::from_utf8(course.first).unwrap();
                let ends = first.contains("\r\n\r\n");
                let wanted = matches!(shape, Shape::StalledBody | Shape::HugeBody | Shape::Guess);
                assert_eq!(ends, wanted, "{target:?} {shape:?}: {first}");
                if let Then::Pour { bytes, times } = course.then {
                    assert!(bytes.len() * times < 32 * MIB, "{target:?} {shape:?}");
                }
            }
        }
    }
}
