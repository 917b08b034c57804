//! A connection to systemd: its private socket, or the message bus it is on.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::SystemdError;
use super::message::{Call, Kind, Message, PREFIX, rest_length};
use crate::cgroup::place::Instance;

/// How long systemd may take for one answer.
const PATIENCE: Duration = Duration::from_secs(30);

const MANAGER_PATH: &str = "/org/freedesktop/systemd1";
const MANAGER: &str = "org.freedesktop.systemd1.Manager";
const DESTINATION: &str = "org.freedesktop.systemd1";

/// An authenticated connection.
#[derive(Debug)]
pub(super) struct Bus {
    stream: BufReader<UnixStream>,
    path: PathBuf,
    serial: u32,
    /// Signals that came while a reply was awaited.
    signals: VecDeque<Message>,
}

/// A socket and what is behind it.
struct Door {
    path: PathBuf,
    /// True on a message bus, which wants a greeting and a subscription.
    daemon: bool,
}

impl Bus {
    /// Connects to the systemd that `instance` names.
    pub(super) fn open(instance: Instance) -> Result<Self, SystemdError> {
        let doors = doors(instance);
        let mut last = io::Error::from(io::ErrorKind::NotFound);
        for door in &doors {
            match UnixStream::connect(&door.path) {
                Ok(stream) => return Self::greet(stream, door),
                Err(error) => last = error,
            }
        }
        let paths = doors.iter().map(|door| format!("`{}`", door.path.display())).collect();
        Err(SystemdError::NoBus { paths, source: last })
    }

    fn greet(stream: UnixStream, door: &Door) -> Result<Self, SystemdError> {
        let path = door.path.clone();
        let talk = |source| SystemdError::Talk { path: path.clone(), source };
        stream.set_read_timeout(Some(PATIENCE)).map_err(talk)?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(talk)?;
        let mut stream = BufReader::new(stream);
        // Without a name in it, EXTERNAL takes the credentials of the socket: right also for a
        // caller that is uid 0 of a user namespace only.
        stream.get_mut().write_all(b"\0AUTH EXTERNAL\r\nDATA\r\n").map_err(talk)?;
        loop {
            let mut line = String::new();
            stream.read_line(&mut line).map_err(talk)?;
            match line.split_whitespace().next() {
                Some("DATA") => {}
                Some("OK") => break,
                _ => {
                    let answer = line.trim_end().to_owned();
                    return Err(SystemdError::Unauthorised { path, answer });
                }
            }
        }
        stream.get_mut().write_all(b"BEGIN\r\n").map_err(talk)?;
        let mut bus = Self { stream, path, serial: 0, signals: VecDeque::new() };
        if door.daemon {
            bus.call(
                "Hello",
                "",
                &Call {
                    destination: "org.freedesktop.DBus",
                    path: "/org/freedesktop/DBus",
                    interface: "org.freedesktop.DBus",
                    method: "Hello",
                    signature: "",
                    body: Vec::new(),
                },
            )?;
            bus.subscribe()?;
        }
        Ok(bus)
    }

    /// Asks for the signals of the manager.
    fn subscribe(&mut self) -> Result<(), SystemdError> {
        let mut rule = super::message::Writer::default();
        rule.text("type='signal',interface='org.freedesktop.systemd1.Manager'");
        self.call(
            "AddMatch",
            "",
            &Call {
                destination: "org.freedesktop.DBus",
                path: "/org/freedesktop/DBus",
                interface: "org.freedesktop.DBus",
                method: "AddMatch",
                signature: "s",
                body: rule.into_bytes(),
            },
        )?;
        self.manager("Subscribe", "", "", Vec::new()).map(drop)
    }

    /// Calls a method of the manager about `unit`.
    pub(super) fn manager(
        &mut self,
        method: &'static str,
        unit: &str,
        signature: &str,
        body: Vec<u8>,
    ) -> Result<Message, SystemdError> {
        let (destination, path, interface) = (DESTINATION, MANAGER_PATH, MANAGER);
        self.call(method, unit, &Call { destination, path, interface, method, signature, body })
    }

    /// Reads a property of the unit's object at `path`.
    pub(super) fn property(
        &mut self,
        unit: &str,
        path: &str,
        interface: &str,
        name: &str,
    ) -> Result<Message, SystemdError> {
        let mut body = super::message::Writer::default();
        body.text(interface);
        body.text(name);
        self.call(
            "Get",
            unit,
            &Call {
                destination: DESTINATION,
                path,
                interface: "org.freedesktop.DBus.Properties",
                method: "Get",
                signature: "ss",
                body: body.into_bytes(),
            },
        )
    }

    fn call(
        &mut self,
        method: &'static str,
        unit: &str,
        call: &Call<'_>,
    ) -> Result<Message, SystemdError> {
        self.serial += 1;
        let serial = self.serial;
        let sent = self.stream.get_mut().write_all(&call.to_bytes(serial));
        sent.map_err(|source| self.talk(source))?;
        loop {
            let message = self.receive()?;
            match message.kind {
                Kind::Reply if message.reply_to == Some(serial) => return Ok(message),
                Kind::Error if message.reply_to == Some(serial) => {
                    let text = message.reader().text().unwrap_or_default();
                    let unit = unit.to_owned();
                    let name = message.name;
                    return Err(SystemdError::Refused { method, unit, name, message: text });
                }
                Kind::Signal => self.signals.push_back(message),
                Kind::Reply | Kind::Error | Kind::Other => {}
            }
        }
    }

    /// The next signal, waiting for it.
    pub(super) fn signal(&mut self) -> Result<Message, SystemdError> {
        if let Some(message) = self.signals.pop_front() {
            return Ok(message);
        }
        loop {
            let message = self.receive()?;
            if message.kind == Kind::Signal {
                return Ok(message);
            }
        }
    }

    fn receive(&mut self) -> Result<Message, SystemdError> {
        let broken = || io::Error::from(io::ErrorKind::InvalidData);
        let mut prefix = [0; PREFIX];
        self.stream.read_exact(&mut prefix).map_err(|source| self.talk(source))?;
        let rest = rest_length(&prefix).ok_or_else(|| self.talk(broken()))?;
        let mut bytes = prefix.to_vec();
        bytes.resize(PREFIX + rest, 0);
        let read = self.stream.read_exact(&mut bytes[PREFIX..]);
        read.map_err(|source| self.talk(source))?;
        Message::parse(&bytes).ok_or_else(|| self.talk(broken()))
    }

    fn talk(&self, source: io::Error) -> SystemdError {
        SystemdError::Talk { path: self.path.clone(), source }
    }
}

/// The sockets to try, the private one first: it needs no bus daemon.
fn doors(instance: Instance) -> Vec<Door> {
    let door = |path: PathBuf, daemon| Door { path, daemon };
    match instance {
        Instance::System => vec![
            door("/run/systemd/private".into(), false),
            door("/run/dbus/system_bus_socket".into(), true),
        ],
        Instance::User => {
            let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from);
            let mut doors = Vec::new();
            if let Some(runtime) = runtime.filter(|path| path.is_absolute()) {
                doors.push(door(runtime.join("systemd/private"), false));
                doors.push(door(runtime.join("bus"), true));
            }
            let address = std::env::var("DBUS_SESSION_BUS_ADDRESS").unwrap_or_default();
            let path = address.split([';', ',']).find_map(|part| part.strip_prefix("unix:path="));
            doors.extend(path.map(|path| door(Path::new(path).to_path_buf(), true)));
            doors
        }
    }
}
